import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { queuePrefix, until } from '../support/worker.js';
import { startWorkerProcess } from '../support/worker-process.js';

// The real worker process, killed while runs are at every one of their steps.

let app: TestApp;
let worker: ChildProcess;
let receiver: Receiver;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), OUTBOUND_LOOPBACK: 'allow' });
  receiver = await startReceiver();
  worker = await startWorkerProcess(app);
  team = await buildTeam(app);
  project = await buildProject(app, team);
});
afterAll(async () => {
  await kill();
  receiver.close();
  await app.close();
});

const db = () => app.services.db;
async function kill(): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  worker.kill('SIGKILL');
  await once(worker, 'exit');
}

const STEPS = [
  comment('1'),
  { ...comment('x', 'never-there'), retry: { max_attempts: 2 } },
  comment('2'),
  { type: 'delay', params: { seconds: 1 } },
  { type: 'notify', params: { role: 'admin', message: 'told' } },
  gate({ required_approvals: 2, remind_after_seconds: 1 }),
  comment('3'),
  { type: 'delay', params: { seconds: 1 } },
  comment('4'),
];

it('a worker killed at each step loses nothing and doubles nothing', async () => {
  const automation = await buildAutomation(app, team, { actions: STEPS });
  const tasks = await Promise.all(Array.from({ length: 4 }, () => buildTask(app, team, project)));
  const runs = () => db()('automation_runs').where({ automation_id: automation.automation_id });
  const done = async () => {
    const of = db()('run_actions').whereIn('run_id', runs().select('run_id'));
    return Number((await of.whereIn('status', ['succeeded', 'failed']).count().first())?.['count']);
  };
  const approveAll = async () => {
    for (const { run_id } of await runs().where({ status: 'paused' })) {
      for (const person of [team.manager, team.admin]) await app.as(person).post(`/api/automations/runs/${run_id}/approve`);
    }
  };
  // Steps of all runs together: between two tries and in the delay; behind the gate.
  for (const after of [6, 22]) {
    await until(async () => {
      await approveAll();
      return (await done()) >= after;
    }, 120_000);
    await kill();
    // Decided while no worker is running.
    await approveAll();
    worker = await startWorkerProcess(app);
  }
  await until(async () => {
    await approveAll();
    return (await runs().whereNotNull('finished_at')).length === tasks.length;
  }, 120_000);
  for (const { task_id } of tasks) {
    expect(await db()('comments').where({ task_id }).orderBy('created_at').pluck('content')).toEqual(['1', '2', '3', '4']);
  }
  expect(await runs().pluck('status')).toEqual(tasks.map(() => 'failed'));
  expect(await db()('notifications').where({ user_id: team.admin.user_id, kind: 'message' })).toHaveLength(tasks.length);
  const asked = await db()('notifications').where({ user_id: team.manager.user_id, kind: 'approval_requested' });
  expect(asked).toHaveLength(tasks.length);
  const twice = await db()('notifications')
    .where({ kind: 'approval_reminder' })
    .groupBy('run_id', 'user_id')
    .havingRaw('count(*) > 1')
    .select('run_id');
  expect(twice).toEqual([]);
}, 300_000);

it('one of two workers is killed while runs are under way: the other one carries them on, and no action happens twice', async () => {
  await db()('automations').update({ is_active: false });
  const other = await startWorkerProcess(app);
  const actions = [comment('1'), comment('2'), gate(), comment('3'), comment('4')];
  const automation = await buildAutomation(app, team, { actions });
  const runs = () => db()('automation_runs').where({ automation_id: automation.automation_id });
  const effects = async () => (await db()('effects').whereIn('run_id', runs().select('run_id'))).length;
  const tasks: { task_id: string }[] = [];
  // A few at a time; the kill comes while the last ones are running.
  for (let n = 0; n < 4; n += 1) tasks.push(...(await Promise.all([1, 2, 3].map(() => buildTask(app, team, project)))));
  await until(async () => (await effects()) >= 8);
  await kill();
  worker = other;
  await until(async () => {
    for (const { run_id } of await runs().where({ status: 'paused' })) {
      await app.as(team.manager).post(`/api/automations/runs/${run_id}/approve`);
    }
    return (await runs().where({ status: 'succeeded' })).length === tasks.length;
  }, 120_000);
  for (const { task_id } of tasks) {
    expect(await db()('comments').where({ task_id }).orderBy('created_at').pluck('content')).toEqual(['1', '2', '3', '4']);
  }
  expect(await effects()).toBe(tasks.length * 4);
}, 300_000);

it('a worker killed in the middle of a request, or before it has noted the answer, sends it again under the same key', async () => {
  const secret = { team_id: team.team_id, name: 'WEBHOOK_SIGNING_KEY', value: 'a key of the team', allowed_hosts: ['127.0.0.1'] };
  expect((await app.as(team.admin).post('/api/automations/secrets', secret)).status).toBe(200);
  const begin = async (path: string, type: string): Promise<string> => {
    const actions = [{ type, params: { method: 'POST', url: `${receiver.url}${path}` } }];
    const { automation_id } = await buildAutomation(app, team, { actions, trigger_type: 'manual' });
    return (await app.as(team.manager).post(`/api/automations/${automation_id}/execute`)).body.run_id;
  };
  const sent = (path: string) => receiver.received.filter(({ url }) => url === path);
  // One receiver keeps its answer back; of the other one's answer the run's row cannot be written, because it is held.
  const holder = await db().transaction();
  const hold = (key: unknown) =>
    holder('automation_runs')
      .where({ run_id: String(key).slice(0, -2) })
      .forUpdate();
  receiver.answer(({ url, headers }, response) => {
    if (sent(url).length > 1) response.end('ok');
    else if (url === '/answers') void hold(headers['webhook-id']).then(() => response.end('ok'));
  });
  const silent = await begin('/silent', 'http_request');
  const answers = await begin('/answers', 'send_webhook');
  const isHeldUp = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const isSent = () => sent('/silent').length === 1 && sent('/answers').length === 1;
  await until(async () => isSent() && (await db().raw<{ rowCount: number }>(isHeldUp)).rowCount > 0);
  await kill();
  await holder.commit();
  const left = () => db()('run_actions').whereIn('run_id', [silent, answers]).select('status', 'attempts');
  expect(await left()).toEqual([1, 1].map((attempts) => ({ status: 'running', attempts })));
  worker = await startWorkerProcess(app);
  const runs = () => db()('automation_runs').whereIn('run_id', [silent, answers]).pluck('status');
  await until(async () => (await runs()).join() === 'succeeded,succeeded', 90_000);
  expect(await left()).toEqual([2, 2].map((attempts) => ({ status: 'succeeded', attempts })));
  expect(sent('/silent').map(({ headers }) => headers['idempotency-key'])).toEqual([`${silent}:0`, `${silent}:0`]);
  expect(sent('/answers').map(({ headers }) => headers['webhook-id'])).toEqual([`${answers}:0`, `${answers}:0`]);
  expect(await db()('effects').whereIn('run_id', [silent, answers])).toHaveLength(2);
}, 300_000);

it('an event of 1.9 MB runs on what is kept of it, and its history stays small', async () => {
  await db()('automations').update({ is_active: false });
  const automation = await buildAutomation(app, team, {
    trigger_type: 'task.restored',
    actions: [comment('{{event.title}}', '{{event.id}}')],
  });
  const { task_id } = await buildTask(app, team, project);
  const payload = { actor_id: team.member.user_id, id: task_id, title: 'kept', blob: 'x'.repeat(1_900_000) };
  const event = { kind: 'event', subject: 'task.restored', team_id: team.team_id, ...project, correlation_id: uuidv7() };
  await db()('outbox').insert({ ...event, payload: JSON.stringify(payload) });
  const run = await until(() =>
    db()('automation_runs')
      .where({ ...automation, status: 'succeeded' })
      .first(),
  );
  expect(run).toMatchObject({ event_truncated: true });
  expect(await db()('comments').where({ task_id }).pluck('content')).toEqual(['kept']);
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  const { historySize } = await new Client({ connection }).workflow.getHandle(`run:${run.run_id}`).describe();
  await connection.close();
  expect(historySize).toBeLessThan(20_000);
});

/** A worker that dies at each point of staging a triage: real processes, real Temporal. One plan a night and a forge run, and one email. */
import { Client, Connection } from '@temporalio/client';
import type { ChildProcess } from 'node:child_process';
import { v7 as uuidv7 } from 'uuid';
import { ciSubject } from '../../../../api/automation/triage/ci-subject.js';
import { triageFailure } from '../../../../api/automation/triage/triage-failure.js';
import { triageNight } from '../../../../api/automation/triage/triage-night.js';
import { sign } from '../../../../api/integrations/forge/deliveries/signature.js';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { deliveries, withFields } from '../../../../scripts/fixtures/forge-payloads.js';
import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { taskQueue } from '../../../../workflows/contracts/queues.js';
import { OVERNIGHT_TRIAGE } from '../../../../workflows/contracts/triage-contract.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { killApiProcesses, startApiProcess } from '../../../resilience/api-process.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Place, StandStill } from '../../../support/stand-still.js';
import { queuePrefix, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';
import { zoneAt } from './zone-at.js';

/** Points of the staging transaction. */
const STAGING = {
  session: { table: 'agent_sessions', when: 'before insert' },
  plan: { table: 'agent_plans', when: 'before insert' },
  audit: { table: 'audit_entries', when: 'before insert' },
  workflow: {
    table: 'outbox',
    when: 'before insert',
    owner: "(select team_id from agent_plans where new.kind = 'plan.start' and action_id::text = new.subject)",
  },
  notification: { table: 'notifications', when: 'before insert' },
  superseded: { table: 'agent_plans', when: 'before update' },
  // What waits until the end of the transaction runs within COMMIT: the plan is there, and nobody hears of it.
  commit: { table: 'agent_plans', when: 'deferred insert' },
} as const satisfies Record<string, Place>;
const MEMBER = '(select m.team_id from memberships m where m.user_id = new.user_id limit 1)';
/** Points before and after it. */
const AROUND = {
  matched: { table: 'outbox', when: 'before insert', condition: "new.kind = 'triage.ci'" },
  received: {
    table: 'forge_deliveries',
    when: 'deferred insert',
    owner: '(select r.team_id from forge_repositories r where r.repo = new.repo limit 1)',
  },
  claimed: { table: 'agent_digests', when: 'before insert', owner: MEMBER },
  mailed: { table: 'agent_digests', when: 'deferred insert', owner: MEMBER },
  handed_over: { table: 'outbox', when: 'before delete', condition: "old.kind = 'triage.ci'", owner: 'old.team_id' },
} as const satisfies Record<string, Place>;
type Point = keyof typeof STAGING | keyof typeof AROUND;
const POINTS = Object.keys(STAGING) as (keyof typeof STAGING)[];

let app: TestApp;
let connection: Connection;
let temporal: Client;
const workers: ChildProcess[] = [];
let still: StandStill;
const db = () => app.services.db;

beforeAll(async () => {
  const schedules = { MAINTENANCE_SCHEDULES: 'create' };
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), FORGE_WEBHOOK_SECRET: 'shared', FORGE_BINDING: 'open', ...schedules });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
  still = new StandStill(app);
  await still.open();
  for (const [name, place] of Object.entries({ ...STAGING, ...AROUND })) await still.at(name, place);
});
afterAll(async () => {
  killApiProcesses();
  for (const worker of workers) worker.kill('SIGKILL');
  await connection.close();
  await still.close();
  await app.close();
});

const startWorker = async (): Promise<void> => {
  const settings = { CI_TRIAGE_SECONDS: '1', DATABASE_POOL_SIZE: '40', FORGE_WEBHOOK_SECRET: 'shared' };
  workers.push(await startWorkerProcess(app, settings));
};
const killWorker = () => still.kill(workers.pop() as ChildProcess);

interface Case {
  point: Point;
  team: TestTeam;
  repo: string;
}

/** A team with an older plan of the same kind to replace, which stands still at one point from now on. */
async function buildCase(point: Point): Promise<Case> {
  const team = await buildTeam(app);
  const project = await buildProject(app, team);
  const repo = `acme/r${team.team_id.slice(-12)}`;
  await buildTask(app, team, project, { due_date: '2020-01-01' });
  await app.as(team.admin).post('/api/forge/repositories', { repo, team_id: team.team_id, ...project, sync_issues: false });
  const settings = { overnight_triage: { enabled: true, cron: '0 2 1 1 *' }, ci_triage: { enabled: true } };
  const put = await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, settings);
  expect(put.status).toBe(200);
  return { point, team, repo };
}
/** Delivers a failed run; `url` names another process of the API. */
const fail = ({ repo }: Case, run: number, { id = uuidv7() } = {}, url = app.url) => {
  const { body, event } = deliveries['workflow_run.failed'];
  const raw = JSON.stringify(withFields(body, { 'repository.full_name': repo, 'workflow_run.id': run }));
  const signature = sign(Buffer.from(raw), 'shared');
  const headers = { 'x-forge-event': event, 'x-forge-delivery': id, 'x-hub-signature-256': signature };
  return fetch(`${url}/api/forge/webhooks`, { method: 'POST', headers, body: raw });
};
const arm = ({ point, team }: Case) => still.hold(point, team.team_id);
const startNight = ({ team }: Case) =>
  temporal.workflow.start(OVERNIGHT_TRIAGE, {
    workflowId: `${app.services.config.TASK_QUEUE_PREFIX}night:${team.team_id}`,
    taskQueue: taskQueue(app.services.config.TASK_QUEUE_PREFIX, 'core'),
    args: [team.team_id],
  });
const toFailure = ({ team, repo }: Case, run_id: number) =>
  temporal.workflow.getHandle(ciSubject(team.team_id, { repo, run_id, sha: null }) ?? '');
const ended = (handle: ReturnType<typeof toFailure>) =>
  until(
    () =>
      handle.describe().then(
        ({ status }) => status.name === 'COMPLETED',
        () => false,
      ),
    120_000,
  ).then(() => handle.result());
const broken = async (): Promise<string[]> =>
  (await checkInvariants({ services: app.services, temporal })).flatMap(({ name, violations }) =>
    violations.map((violation) => `${name}: ${violation}`),
  );
const findPlans = ({ team }: Case) => db()('agent_plans').where({ team_id: team.team_id }).orderBy('action_id');

it('a worker that dies at each point of staging leaves one plan a night and a run', async () => {
  const nights = await Promise.all(POINTS.map(buildCase));
  const failures = await Promise.all([...POINTS, 'matched' as const, 'handed_over' as const].map(buildCase));
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  for (const { team } of nights) expect((await triageNight(app.services, team.team_id, yesterday)).outcome).toBe('proposed');
  for (const failure of failures) {
    await fail(failure, 1);
    const { receipt_id } = await db()('forge_deliveries').where({ repo: failure.repo }).first('receipt_id');
    expect((await triageFailure(app.services, failure.team.team_id, receipt_id)).outcome).toBe('proposed');
  }
  await startWorker();
  await until(async () => (await db()('outbox').where({ kind: 'forge.delivery' }).orWhere({ kind: 'triage.ci' })).length === 0);
  for (const each of [...nights, ...failures]) await arm(each);
  const staging = failures.slice(0, POINTS.length);
  const tonight = await Promise.all(nights.map(startNight));
  for (const failure of staging) await fail(failure, 2);
  await until(async () => (await still.standing()) === nights.length + staging.length, 60_000);
  // These two hold up the relay, behind everything that it has handed over.
  for (const failure of failures.slice(POINTS.length).toReversed()) {
    const before = await still.standing();
    await fail(failure, 2);
    await until(async () => (await still.standing()) > before);
  }
  await killWorker();
  await startWorker();

  const results = await Promise.all([
    ...tonight.map((handle) => handle.result()),
    ...failures.map((failure) => ended(toFailure(failure, 2))),
  ]);
  for (const [at, each] of [...nights, ...failures].entries()) {
    const plans = await findPlans(each);
    const [older, newer] = plans;
    expect({ point: each.point, plans: plans.map(({ status, closed_reason }) => [status, closed_reason]) }).toEqual({
      point: each.point,
      plans: [
        ['discarded', 'superseded'],
        ['staged', null],
      ],
    });
    expect(older.superseded_by).toBe(newer.action_id);
    // The plan that is there although nobody heard of its commit is found again.
    const outcome = each.point === 'commit' ? 'done' : 'proposed';
    expect(results[at]).toMatchObject({ outcome, actionId: newer.action_id });
    const told = await db()('notifications').where({ team_id: each.team.team_id, user_id: each.team.member.user_id });
    expect(told).toHaveLength(2);
    expect(await db()('audit_entries').where({ team_id: each.team.team_id, action: 'stage' })).toHaveLength(2);
  }
  // Every plan waits in Temporal, those of the dead worker too.
  // The chain of the audit knows every trigger that the product has not made.
  await db().raw('drop trigger stand_still_at_audit on audit_entries');
  let found: string[] = [];
  await until(async () => (found = await broken()).length === 0).catch(() => undefined);
  expect(found).toEqual([]);
}, 240_000);

it('an API process that dies in the commit of a delivery, which is sent again, leads to one plan', async () => {
  const failure = await buildCase('received');
  const api = await startApiProcess(app, { FORGE_WEBHOOK_SECRET: 'shared', FORGE_BINDING: 'open' });
  await arm(failure);
  const id = uuidv7();
  const again = () => fail(failure, 3, { id });
  const asked = fail(failure, 3, { id }, api.url);
  await until(async () => (await still.standing()) > 0);
  await still.kill(api.child);
  await expect(asked).rejects.toThrow();
  expect((await again()).status).toBe(200);
  if (workers.length === 0) await startWorker();
  expect(await ended(toFailure(failure, 3))).toMatchObject({ outcome: 'proposed' });
  expect((await again()).status).toBe(200);
  await until(async () => (await db()('outbox').where({ kind: 'forge.delivery' }).orWhere({ kind: 'triage.ci' })).length === 0);
  expect(await findPlans(failure)).toHaveLength(1);
}, 120_000);

it('a worker that dies while it writes the email of the morning, before and in its commit, writes one', async () => {
  const night = await buildCase('claimed');
  const { team } = night;
  const zone = zoneAt(8);
  await db()('users')
    .where({ user_id: team.member.user_id })
    .update({ preferences: JSON.stringify({ timezone: zone }) });
  expect((await triageNight(app.services, team.team_id, new Date().toISOString())).outcome).toBe('proposed');
  if (workers.length === 0) await startWorker();
  const digests = temporal.schedule.getHandle(`${app.services.config.TASK_QUEUE_PREFIX}plan-digest`);
  for (const point of ['claimed', 'mailed'] as const) {
    await arm({ ...night, point });
    await digests.trigger();
    await until(async () => (await still.standing()) > 0);
    await killWorker();
    await startWorker();
  }
  // The job of the dead worker ends, and so does one more.
  for (let more = 0; more < 2; more += 1) {
    await until(async () => (await digests.describe()).info.runningActions.length === 0, 60_000);
    if (more === 0) await digests.trigger();
  }
  expect((await listMails(app.services, team.member.email)).map(({ subject }) => subject)).toEqual([
    expect.stringContaining('1 suggestion'),
  ]);
}, 120_000);

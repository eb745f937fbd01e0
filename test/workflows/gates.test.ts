import { Client, Connection } from '@temporalio/client';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { maintenanceActivities } from '../../activities/maintenance.js';
import { tripBreaker } from '../../api/automation/definitions/matching/trip-breaker.js';
import { readGate } from '../../api/automation/runs/approvals/read-gate.js';
import { mailsTo as readMails } from '../factories/accounts.js';
import { buildAutomation, comment, gate, setStatus } from '../factories/automations.js';
import { subscribe } from '../factories/events.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../factories/people.js';
import { buildRun, skippedRuns } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, runWorker, until, untilRunIs } from '../support/worker.js';

// Gate requests and reminders, data sent to outside systems, and loop protection.

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), AUTOMATION_BREAKER_RUNS: '5' });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  await subscribe(app, team);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
const buildRuns = (automation: { automation_id: string }) =>
  db()('automation_runs').where({ automation_id: automation.automation_id });
const runIn = (automation: { automation_id: string }, ...statuses: string[]) => untilRunIs(app, automation, ...statuses);
const mailsTo = (person: Person) => db()('mails').where({ recipient: person.email }).pluck<string[]>('template');
const told = async (person: Person) =>
  (await app.as(person).get('/api/notifications')).body.map(({ kind }: { kind: string }) => kind) as string[];
const decide = (person: Person, run: { run_id: string }, verb: 'approve' | 'reject' = 'approve') =>
  app.as(person).post(`/api/automations/runs/${run.run_id}/${verb}`);

/** Events that were written, kept from the relay's sight by a trigger of this file. */
async function watchEvents(): Promise<() => Promise<string[]>> {
  await db().raw(/* sql */ `
    create table if not exists heard (subject text, payload jsonb, at bigserial);
    create or replace function hear() returns trigger language plpgsql as $$
    begin insert into heard values (new.subject, new.payload); return null; end $$;
    drop trigger if exists hear on outbox;
    create trigger hear after insert on outbox for each row when (new.kind = 'event') execute function hear()`);
  return async () =>
    (await db()('heard').orderBy('at').pluck('subject')).filter((name: string) => /^(automation|approval)\./.test(name));
}

describe('gates', () => {
  it('skip what they showed as skipped, and end a run whose last action is skipped as succeeded', async () => {
    const urgent = "event.task.priority == 'urgent'";
    const automation = await buildAutomation(app, team, {
      creator: team.manager,
      actions: [
        { ...comment('before'), if: urgent },
        gate(),
        { ...comment('calm'), if: `!(${urgent})` },
        { ...comment('urgent'), if: urgent },
      ],
    });
    const { task_id } = await buildTask(app, team, project, { title: 'it', priority: 'low' });
    const run = await runIn(automation, 'paused');
    await app.as(team.member).patch(`/api/tasks/${task_id}`, { priority: 'urgent' });
    expect((await decide(team.manager, run)).status).toBe(200);
    const { run_id } = await runIn(automation, 'succeeded');
    const { body } = await app.as(team.member).get(`/api/automations/runs/${run_id}`);
    expect(body.actions).toMatchObject([
      { status: 'skipped', output: { skipped: `${urgent} is false (event.task.priority is "low")` } },
      { status: 'succeeded' },
      { status: 'succeeded' },
      { status: 'skipped', output: { skipped: `${urgent} is false (event.task.priority is "low")` } },
    ]);
    expect(await db()('comments').where({ task_id }).pluck('content')).toEqual(['calm']);
  });

  it('notify the approvers, in the app and by email, and no one else', async () => {
    const automation = await buildAutomation(app, team, {
      creator: team.manager,
      actions: [gate({ allow_self_approval: false, message: 'Ship {{event.task.title}}?' }), comment('tail')],
    });
    await buildTask(app, team, project, { title: 'it' });
    const { run_id } = await runIn(automation, 'paused');
    const [note] = (await app.as(team.admin).get('/api/notifications')).body;
    expect(note).toMatchObject({
      kind: 'approval_requested',
      run_id,
      message: 'Ship it?',
    });
    expect(await mailsTo(team.admin)).toEqual(['notice']);
    const [mail] = await readMails(app, team.admin);
    expect(mail?.subject).toBe('Waiting for your approval: it (Test automation)');
    for (const words of [
      'Runs if approved, in the name of',
      '1. Comment on “it”',
      'content: tail',
      ' UTC.',
      '/app/approvals/gate/',
    ])
      expect(mail?.text.replaceAll('\u2060', '')).toContain(words);
    for (const person of [team.manager, team.member, team.guest]) {
      expect([await told(person), await mailsTo(person)]).toEqual([[], []]);
    }
  });

  it('remind once, and leave out who has approved already', async () => {
    const automation = await buildAutomation(app, team, {
      actions: [gate({ required_approvals: 2, remind_after_seconds: 1 }), comment('tail')],
    });
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'paused');
    expect((await decide(team.admin, run)).body).toMatchObject({ status: 'paused', approvals_needed: 1 });
    await until(() => db()('gates').where({ run_id: run.run_id }).whereNotNull('reminded_at').first());
    await Promise.all([1, 2, 3].map(() => readGate(app.services, run.run_id, 0, 'an-execution')));
    expect(await told(team.manager)).toEqual(['approval_reminder', 'approval_requested']);
    expect(await told(team.admin)).toEqual(['approval_requested']);
    expect(await mailsTo(team.manager)).toEqual(['notice', 'notice']);
    expect((await decide(team.manager, run)).body).toMatchObject({ status: 'running', approvals_needed: 0 });
    await runIn(automation, 'succeeded');
    expect(await db()('comments').where({ task_id: task.task_id }).pluck('content')).toEqual(['tail']);
  });

  it('opens again after a change, in another execution that repeats nothing, also when the wait lasted through a delay', async () => {
    const automation = await buildAutomation(app, team, {
      actions: [
        gate({ if_changed: 'ask_again' }),
        comment('head'),
        { type: 'delay', params: { seconds: 2 } },
        setStatus('done', '{{event.task.task_id}}'),
      ],
    });
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'paused');
    expect((await decide(team.manager, run)).status).toBe(200);
    await until(() => db()('comments').where({ task_id: task.task_id }).first());
    await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { priority: 'urgent' });
    await until(() => db()('gates').where({ run_id: run.run_id, reopened: 1 }).first());
    await until(() => db()('automation_runs').where({ run_id: run.run_id, status: 'paused' }).whereNotNull('claimed_by').first());
    expect((await decide(team.manager, run)).status).toBe(200);
    await runIn(automation, 'succeeded');
    expect(await db()('comments').where({ task_id: task.task_id }).pluck('content')).toEqual(['head']);
    expect((await app.as(team.member).get(`/api/tasks/${task.task_id}`)).body).toMatchObject({
      status: 'done',
      priority: 'urgent',
    });
  });

  it('a quorum wants different people, racing ones too, and one person counts once', async () => {
    const fifth = await buildPerson(app);
    await db()('memberships').insert({ team_id: team.team_id, user_id: fifth.user_id, role: 'admin' });
    const params = { required_approvals: 3, role: 'manager' };
    for (let round = 0; round < 10; round += 1) {
      const run = await buildRun(app, team, { actions: [{ type: 'require_approval', params }, setStatus('done', 'nobody')] });
      const everyone = [team.admin, team.admin, team.manager, team.manager, fifth];
      const answers = await Promise.all(everyone.map((person) => decide(person, run)));
      const complete = answers.filter(({ body }) => body.approvals_needed === 0);
      expect(complete).toHaveLength(1);
      expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
      expect(await db()('gate_approvals').where({ run_id: run.run_id })).toHaveLength(3);
    }
  });

  it('hundreds of wakes are no more than a look at the row, and a history stays small', async () => {
    const automation = await buildAutomation(app, team, { actions: [gate(), comment('tail')] });
    await buildTask(app, team, project);
    const run = await runIn(automation, 'paused');
    const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
    const workflow = new Client({ connection }).workflow.getHandle(`run:${run.run_id}`);
    await Promise.all(Array.from({ length: 500 }, () => workflow.signal('decided')));
    expect((await decide(team.manager, run)).status).toBe(200);
    await runIn(automation, 'succeeded');
    const { historySize } = await workflow.describe();
    await connection.close();
    expect(historySize).toBeLessThan(100_000);
  });

  it('an expired gate ends its run as expired after the clean-up, with one notification', async () => {
    const events = await watchEvents();
    await db()('heard').delete();
    const run = await buildRun(app, team, { expiresIn: -60 });
    await Promise.all([1, 2, 3].map(() => readGate(app.services, run.run_id, run.gate_index, 'an-execution')));
    expect(await events()).toEqual(['approval.expired']);
    const long = db().raw("now() - interval '31 days'");
    await db()('gates').where({ run_id: run.run_id }).update({ expires_at: long });
    expect((await readGate(app.services, run.run_id, run.gate_index, 'an-execution')).state).toBe('closed');
    expect(await db()('automation_runs').where({ run_id: run.run_id }).first()).toMatchObject({ status: 'expired' });
    expect((await decide(team.manager, run)).status).toBe(410);
    expect((await decide(team.manager, run, 'reject')).status).toBe(410);
  });
});

it('outside systems are told of pauses, requests, decisions and failures, with no parameter of any action', async () => {
  const events = await watchEvents();
  await db()('heard').delete();
  const actions = [comment('x', 'no-such-task'), gate(), comment('the tail’s text')];
  const automation = await buildAutomation(app, team, { actions, name: 'Told' });
  await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  await decide(team.manager, run, 'reject');
  await runIn(automation, 'failed');
  expect(await events()).toEqual(['approval.requested', 'automation.run_paused', 'approval.decided', 'automation.run_failed']);
  const [{ payload }] = await db()('heard').where({ subject: 'approval.decided' });
  expect(payload).toMatchObject({
    actor_id: team.manager.user_id,
    entity_type: 'automation_run',
    entity_id: run.run_id,
    object: { automation_name: 'Told', decision: 'rejected', gate_index: 1 },
  });
  expect(JSON.stringify(await db()('heard').whereLike('subject', 'a%.%'))).not.toContain('the tail');
});

it('disables an automation that other runs start too often, and notifies its people', async () => {
  const child = (title: string) => ({ type: 'create_task', params: { title, project_id: project.project_id } });
  const automation = await buildAutomation(app, team, {
    actions: [child('a'), child('b'), child('c')],
    creator: team.member,
    name: 'Runaway',
  });
  await buildTask(app, team, project);
  const off = await until(async () =>
    db()('automations')
      .where({ ...automation, is_active: false })
      .first(),
  );
  expect(off).toMatchObject({ disabled_reason: 'rate_breaker' });
  await until(async () => (await buildRuns(automation).whereNull('finished_at')).length === 0);
  for (const person of [team.admin, team.manager, team.member]) expect(await told(person)).toEqual(['automation_disabled']);
  expect(await told(team.guest)).toEqual([]);
  const entry = { entity_id: automation.automation_id, action: 'toggle' };
  expect(await db()('audit_entries').where(entry)).toHaveLength(1);
  const toggled = await app.as(team.manager).post(`/api/automations/${automation.automation_id}/toggle`, { is_active: true });
  expect(toggled.body.is_active).toBe(true);
  await app.as(team.manager).post(`/api/automations/${automation.automation_id}/toggle`, { is_active: false });
});

it('an automation that other runs only tell of what its condition leaves out stays on', async () => {
  const listener = await buildAutomation(app, team, { actions: [], condition: 'event.task.title == "never"' });
  const child = { type: 'create_task', params: { title: 'x', project_id: project.project_id } };
  const bulk = await buildAutomation(app, team, { trigger_type: 'manual', actions: Array.from({ length: 12 }, () => child) });
  await app.as(team.manager).post(`/api/automations/${bulk.automation_id}/execute`, {});
  await until(async () => (await skippedRuns(app, listener)).length === 12);
  // And those that came too deep: nothing began here either.
  const deep = { status: 'skipped', automation: listener, fields: { depth: 11, skip_reason: 'loop' } } as const;
  for (let times = 0; times < 6; times += 1) await buildRun(app, team, deep);
  expect(await tripBreaker(app.services, [listener.automation_id])).toBe(0);
  expect(await db()('automations').where(listener).first()).toMatchObject({ is_active: true, disabled_reason: null });
  expect(await told(team.manager)).toEqual([]);
});

describe('jobs', () => {
  const jobs = () => maintenanceActivities(app.services);

  it('run-history forgets old runs with everything of theirs, and keeps what others point at or what is open', async () => {
    const ended = (status: 'skipped' | 'failed' | 'succeeded', days: number, fields: object = {}) =>
      buildRun(app, team, { status, fields: { finished_at: db().raw(`now() - interval '${days} days'`), ...fields } });
    const gone = [await ended('skipped', 8), await ended('failed', 91)];
    const replay = await ended('succeeded', 10, { retry_of: gone[1]?.run_id });
    await db()('automation_runs').where({ run_id: gone[1]?.run_id }).update({ retried_by: replay.run_id });
    const open = await buildRun(app, team, { fields: { queued_at: db().raw("now() - interval '200 days'") } });
    const kept = [await ended('skipped', 6), await ended('failed', 89), replay, open];
    expect(await jobs().runMaintenanceJob('run-history')).toBe('deleted 2 runs');
    const left = await db()('automation_runs').where({ team_id: team.team_id }).pluck('run_id');
    expect(new Set(left)).toEqual(new Set(kept.map(({ run_id }) => run_id)));
    expect(
      await db()('run_actions').whereIn(
        'run_id',
        gone.map(({ run_id }) => run_id),
      ),
    ).toEqual([]);
    expect(await jobs().runMaintenanceJob('run-history')).toBe('deleted 0 runs');
  });

  it('due-scan announces each due date once, and a new one anew', async () => {
    const soon = await buildAutomation(app, team, { trigger_type: 'task.due_soon', actions: [comment('soon')] });
    const late = await buildAutomation(app, team, { trigger_type: 'task.overdue', actions: [comment('late')] });
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const task = await buildTask(app, team, project, { due_date: at(2) });
    const today = await buildTask(app, team, project, { due_date: at(0).slice(0, 10) });
    const done = await buildTask(app, team, project, { due_date: at(-2), status: 'done' });
    await buildTask(app, team, project, { due_date: at(50) });
    const scans = await Promise.all([1, 2, 3].map(() => jobs().runMaintenanceJob('due-scan')));
    expect(scans.map((said) => Number(/\d+/.exec(said)?.[0])).reduce((sum, count) => sum + count)).toBe(2);
    await until(async () => (await buildRuns(soon).where({ status: 'succeeded' })).length === 2);
    await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { due_date: at(-30) });
    await jobs().runMaintenanceJob('due-scan');
    await jobs().runMaintenanceJob('due-scan');
    await runIn(late, 'succeeded');
    const said = async ({ task_id }: { task_id: string }) =>
      db()('comments').where({ task_id }).orderBy('created_at').pluck('content');
    expect(await said(task)).toEqual(['soon', 'late']);
    expect(await said(today)).toEqual(['soon']);
    expect(await said(done)).toEqual([]);
  });
});

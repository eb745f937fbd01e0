import { Client, Connection } from '@temporalio/client';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { fireSchedule } from '../../api/automation/definitions/schedule/fire-schedule.js';
import { parseCron } from '../../api/automation/definitions/schedule/cron.js';
import { countsAs, nextTimes } from '../../api/automation/definitions/schedule/next-times.js';
import { scheduleId } from '../../workflows/contracts/run-contract.js';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { queuePrefix, runWorker, until, untilRunIs } from '../support/worker.js';

// Steps that wait, steps that are played through, and clocks that set runs off: against a real worker.

let app: TestApp;
let worker: RunningWorker;
let receiver: Receiver;
let connection: Connection;
let temporal: Client;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({
    TASK_QUEUE_PREFIX: queuePrefix(),
    OUTBOUND_LOOPBACK: 'allow',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
  });
  receiver = await startReceiver();
  worker = await runWorker(app);
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
});
afterAll(async () => {
  await connection.close();
  await worker.stop();
  receiver.close();
  await app.close();
});
beforeEach(async () => {
  receiver.received.length = 0;
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

const db = () => app.services.db;
const buildRuns = (automation: { automation_id: string }) =>
  db()('automation_runs').where({ automation_id: automation.automation_id });
const runIn = (automation: { automation_id: string }, ...statuses: string[]) => untilRunIs(app, automation, ...statuses);
const getStep = (run: { run_id: string }, index: number) => db()('run_actions').where({ run_id: run.run_id, index }).first();
const commentsOn = (task: { task_id: string }) =>
  db()('comments').where({ task_id: task.task_id }).orderBy('created_at').pluck<string[]>('content');
/** Its first step waits; then its automation is deleted, and the run ends at once. */
async function endsWithAutomation(automation: { automation_id: string }, run: { run_id: string }): Promise<void> {
  await until(async () => (await getStep(run, 0)).due_at);
  expect((await app.as(team.manager).delete(`/api/automations/${automation.automation_id}`)).body.cancelled_runs).toBe(1);
  expect(await temporal.workflow.getHandle(`run:${run.run_id}`).result()).toEqual({
    status: 'cancelled',
    step: null,
    message: 'Cancelled',
  });
}
const delay = (seconds: number) => ({ type: 'delay', params: { seconds } });
const call = (path: string, body?: object) => app.as(team.manager).post(`/api/automations${path && `/${path}`}`, body);

describe('delay', () => {
  it('waits by the database’s clock, under a timer that says until when', async () => {
    const automation = await buildAutomation(app, team, { actions: [comment('before'), delay(1), comment('after')] });
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'succeeded');
    expect(await commentsOn(task)).toEqual(['before', 'after']);
    const [, wait, after] = await db()('run_actions').where({ run_id: run.run_id }).orderBy('index');
    expect(wait).toMatchObject({ status: 'succeeded', attempts: 1, output: { waited_seconds: 1 } });
    expect(after.finished_at.getTime()).toBeGreaterThanOrEqual(wait.due_at.getTime());
    const { events } = await temporal.workflow.getHandle(`run:${run.run_id}`).fetchHistory();
    const timer = events?.find((event) => event.timerStartedEventAttributes);
    expect(Buffer.from(timer?.userMetadata?.summary?.data ?? []).toString()).toContain('Wait until 20');
  });

  it('can be cancelled, and a cancelled run does nothing more', async () => {
    const automation = await buildAutomation(app, team, { actions: [delay(3600), comment('never')] });
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'running');
    await until(async () => (await getStep(run, 0)).due_at);
    expect((await call(`runs/${run.run_id}/cancel`)).body.status).toBe('cancelled');
    expect(await temporal.workflow.getHandle(`run:${run.run_id}`).result()).toEqual({
      status: 'cancelled',
      step: null,
      message: 'Cancelled',
    });
    expect(await commentsOn(task)).toEqual([]);
    expect(await db()('run_actions').where({ run_id: run.run_id }).pluck('status')).toEqual(['skipped', 'skipped']);
  });

  it('ends with its automation', async () => {
    const automation = await buildAutomation(app, team, { actions: [delay(3600), comment('never')] });
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'running');
    await endsWithAutomation(automation, run);
    expect(await commentsOn(task)).toEqual([]);
  });

  it('resumes after its workflow was lost, and after a worker outage', async () => {
    const automation = await buildAutomation(app, team, { actions: [comment('head'), delay(3600), comment('tail')] });
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'running');
    await until(async () => (await getStep(run, 1)).due_at);
    await worker.stop();
    await temporal.workflow.getHandle(`run:${run.run_id}`).terminate('lost');
    const { due_at } = await getStep(run, 1);
    worker = await runWorker(app);
    // Temporal's list of what runs may be a moment old.
    await until(
      async () => (await worker.reconcile()) >= 0 && ((await buildRuns(automation).first())?.incarnation as number) > 1,
    );
    // The new execution has looked at the delay, and waits for what is left of it.
    const carrier = async () => ((await buildRuns(automation).first()) as { claimed_by: string | null }).claimed_by;
    await until(async () => {
      const execution = await carrier();
      if (execution === null || execution === run.claimed_by) return false;
      const { events } = await temporal.workflow.getHandle(`run:${run.run_id}`, execution).fetchHistory();
      return events?.some((event) => event.timerStartedEventAttributes);
    });
    expect(await getStep(run, 1)).toMatchObject({ status: 'running', due_at });
    // Time goes by: the row decides, a wake makes the workflow look.
    await db()('run_actions').where({ run_id: run.run_id, index: 1 }).update({ due_at: new Date() });
    const wake = { run_id: run.run_id, incarnation: 2 };
    await db()('outbox').insert({ kind: 'run.wake', subject: run.run_id, payload: wake, correlation_id: run.correlation_id });
    await runIn(automation, 'succeeded');
    expect(await commentsOn(task)).toEqual(['head', 'tail']);
  });
});

describe('retry', () => {
  it('tries an action again that failed for want of something, and no more than it says', async () => {
    const automation = await buildAutomation(app, team, {
      condition: 'event.task.task_id != "comes-later"',
      actions: [
        // Attempts enough for a machine that needs seconds to create a task: the pauses are 1, 4 and 16 s.
        { ...comment('late', 'comes-later'), retry: { max_attempts: 4 } },
        { ...comment('x', 'never-comes'), retry: { max_attempts: 2 } },
        { ...comment('{{event.nothing}}'), retry: { max_attempts: 5 } },
      ],
    });
    await buildTask(app, team, project);
    const run = await until(() => buildRuns(automation).first());
    const waiting = await until(async () => {
      const step = await getStep(run, 0);
      return step.due_at ? step : undefined;
    });
    expect(waiting).toMatchObject({ status: 'running', error: { code: 'resource_not_found' } });
    await buildTask(app, team, project, { task_id: 'comes-later' });
    await until(async () => (await buildRuns(automation).where({ run_id: run.run_id }).first()).finished_at);
    expect(await db()('run_actions').where({ run_id: run.run_id }).orderBy('index').select('status', 'attempts')).toEqual([
      { status: 'succeeded', attempts: expect.any(Number) },
      { status: 'failed', attempts: 2 },
      { status: 'failed', attempts: 1 },
    ]);
    const late = await getStep(run, 0);
    expect(late.error).toBeNull();
    expect(late.attempts).toBeGreaterThan(1);
    expect(await commentsOn({ task_id: 'comes-later' })).toEqual(['late']);
  });

  const sends = () => ({ type: 'http_request', params: { method: 'POST', url: receiver.url } });

  it('sends a request again that was refused for a moment, under a timer that says which try comes', async () => {
    const automation = await buildAutomation(app, team, { actions: [sends(), comment('after')] });
    receiver.answer((_request, response) => response.writeHead(receiver.received.length === 1 ? 503 : 200).end());
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'succeeded');
    expect(await getStep(run, 0)).toMatchObject({ status: 'succeeded', attempts: 2, error: null });
    expect(await commentsOn(task)).toEqual(['after']);
    const { events } = await temporal.workflow.getHandle(`run:${run.run_id}`).fetchHistory();
    const timer = events?.find((event) => event.timerStartedEventAttributes);
    expect(Buffer.from(timer?.userMetadata?.summary?.data ?? []).toString()).toContain('Attempt 2 of 3: http_request');
  });

  it('a request that waits to be sent again ends with its automation, at once', async () => {
    const automation = await buildAutomation(app, team, { actions: [sends(), comment('never')] });
    receiver.answer((_request, response) => response.writeHead(503, { 'retry-after': '600' }).end());
    const task = await buildTask(app, team, project);
    const run = await runIn(automation, 'running');
    await endsWithAutomation(automation, run);
    expect(await commentsOn(task)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('notify', () => {
  it('tells people in the app and by mail, with the run’s address, once', async () => {
    const automation = await buildAutomation(app, team, {
      name: 'Tell them',
      actions: [
        { type: 'notify', params: { role: 'manager', message: 'Look at {{event.task.title}}' } },
        { type: 'notify', params: { user_ids: [team.member.user_id], message: 'By mail', channel: 'email' } },
        { type: 'notify', params: { user_ids: [(await buildTeam(app)).member.user_id], message: 'To a stranger' } },
      ],
    });
    await buildTask(app, team, project, { title: 'This' });
    const { run_id } = await runIn(automation, 'failed');
    const listed = async (person: { token: string }) =>
      (await app.as(person).get('/api/notifications')).body.filter(({ kind }: { kind: string }) => kind === 'message');
    for (const person of [team.admin, team.manager]) {
      expect(await listed(person)).toMatchObject([{ kind: 'message', message: 'Look at This', run_id, team_id: team.team_id }]);
    }
    expect(await listed(team.member)).toEqual([]);
    expect(await db()('mails').where({ recipient: team.member.email }).pluck('template')).toEqual(['notice']);
    expect((await getStep({ run_id }, 2)).error).toMatchObject({ code: 'invalid_request' });
    await db()('memberships').where({ team_id: team.team_id, user_id: team.manager.user_id }).delete();
    expect(await listed(team.manager)).toEqual([]);
  });
});

it('shows names of automations to an operator as text, without lines, links or pictures', async () => {
  const name = 'Nightly\n\nEnded: **succeeded**\u202e ![x](http://evil.example/x.png) <b>';
  const automation = await buildAutomation(app, team, {
    name,
    actions: [{ ...gate(), name: '[Approve](https://evil.example)' }],
  });
  await buildTask(app, team, project);
  const { run_id } = await runIn(automation, 'paused');
  const handle = temporal.workflow.getHandle(`run:${run_id}`);
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  const plain = 'Nightly Ended: \\*\\*succeeded\\*\\* !\\[x\\](http:\\//evil.example/x.png) \\<b\\>';
  expect(currentDetails.split('\n\n')[0]).toBe(`### ${plain}`);
  expect(currentDetails).toContain('Gate “\\[Approve\\](https:\\//evil.example)”: waiting');
  expect(await (await handle.describe()).staticSummary()).toBe(`${plain} · task.created`);
});

it('a history reads like the automation: each step under its own name, however long that is', async () => {
  const long = '😀'.repeat(100);
  const automation = await buildAutomation(app, team, {
    actions: [
      { ...comment('a'), name: 'Tell the task' },
      comment('b'),
      { ...gate(), name: 'Release manager' },
      { ...comment('c', 'no-such-task'), name: long, retry: { max_attempts: 2 } },
      { type: 'http_request', name: long, params: { method: 'GET', url: 'http://10.0.0.1/' } },
    ],
  });
  await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  await call(`runs/${run.run_id}/approve`);
  await runIn(automation, 'failed');
  const handle = temporal.workflow.getHandle(`run:${run.run_id}`);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const summaries = events?.flatMap((event) => {
    const { data } = event.userMetadata?.summary ?? {};
    const isStep = event.markerRecordedEventAttributes ?? event.activityTaskScheduledEventAttributes;
    return isStep ? [data ? String(JSON.parse(Buffer.from(data).toString())) : null] : [];
  });
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('(`add_comment`): failed · `resource_not_found`');
  expect(currentDetails).toContain('(`http_request`): failed · `');
  expect(await (await handle.describe()).staticDetails()).toContain(
    `](http://localhost:${app.services.config.PORT}/app/runs/${run.run_id})`,
  );
  const short = expect.stringMatching(/^(😀)+…$/u);
  expect(summaries).toEqual(['Tell the task', null, 'Open gate', 'Read gate', short, short, short]);
});

it('an operator reads how many approvals a gate still wants, and who ended it', async () => {
  const automation = await buildAutomation(app, team, {
    actions: [{ ...gate({ required_approvals: 3 }), name: 'Three of us' }, comment('never')],
  });
  await buildTask(app, team, project);
  const run = await runIn(automation, 'paused');
  const handle = temporal.workflow.getHandle(`run:${run.run_id}`);
  const reads = (words: string) =>
    until(async () => {
      const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      return currentDetails?.includes(words);
    });
  await reads('Waiting for 3 approvers (at least **manager**) to approve');
  await app.as(team.admin).post(`/api/automations/runs/${run.run_id}/approve`);
  await reads('Waiting for 2 more (at least **manager**) to approve');
  await reads('» Gate “Three of us”: waiting, 1 of 3 approved');
  await call(`runs/${run.run_id}/reject`);
  await reads('✗ Gate “Three of us”: rejected at 20');
});

it('a test run plays everything through: real rights and real errors, no effect, no wait, no question', async () => {
  const task = await buildTask(app, team, project, { title: 'Hello' });
  const automation = await buildAutomation(app, team, {
    trigger_type: 'manual',
    actions: [
      comment('seen {{event.task.title}}'),
      comment('x', 'no-such-task'),
      gate({ message: 'Really, {{event.task.title}}?' }),
      delay(3600),
      { type: 'notify', params: { role: 'manager', message: 'Hi' } },
      { type: 'create_task', params: { title: 'New', project_id: project.project_id } },
    ],
  });
  const counts = () =>
    Promise.all(['comments', 'tasks', 'notifications', 'effects', 'gates'].map((table) => db()(table).count().first()));
  const before = await counts();
  const { body } = await call(`${automation.automation_id}/test`, { event: { task } });
  await runIn(automation, 'failed');
  const { is_test, actions } = (await app.as(team.guest).get(`/api/automations/runs/${body.run_id}`)).body;
  expect({ is_test, statuses: actions.map(({ status }: { status: string }) => status) }).toEqual({
    is_test: true,
    statuses: ['succeeded', 'failed', 'succeeded', 'succeeded', 'succeeded', 'succeeded'],
  });
  expect(actions[0].output).toEqual({
    simulated: true,
    would: 'Comment on a task',
    params: { task_id: task.task_id, content: 'seen Hello' },
  });
  expect(actions[2].output).toMatchObject({ simulated: true, params: { role: 'manager', message: 'Really, Hello?' } });
  expect(await counts()).toEqual(before);
  expect((await app.as(team.guest).get('/api/automations/dead-letter')).body.total).toBe(0);
  expect((await call(`dead-letter/${body.run_id}/retry`)).status).toBe(404);
});

describe('schedules', () => {
  const cron = { trigger_type: 'schedule', schedule_cron: '30 2 * * *', schedule_timezone: 'europe/berlin' };
  const make = async (fields: object = {}): Promise<{ automation_id: string }> => {
    const { body } = await call('', { name: 'Nightly', team_id: team.team_id, ...cron, actions: [], ...fields });
    return { automation_id: body.automation_id };
  };
  const path = (automation: { automation_id: string }) => `/api/automations/${automation.automation_id}`;
  const findHandle = ({ automation_id }: { automation_id: string }) =>
    temporal.schedule.getHandle(scheduleId(app.services.config.TASK_QUEUE_PREFIX, automation_id));
  const buildNote = (automation: { automation_id: string }) =>
    findHandle(automation)
      .describe()
      .then(({ state }) => state.note)
      .catch(() => 'gone');
  const shows = (automation: { automation_id: string }, note: string) =>
    until(async () => (await buildNote(automation)) === note);
  const NOTE = '30 2 * * * (Europe/Berlin) · Nightly';

  it('refuses what is no schedule, with the position', async () => {
    const refused = async (fields: object) => {
      const { status, body } = await call('', { name: 'x', team_id: team.team_id, ...cron, ...fields });
      return `${status} ${body.message}`;
    };
    expect(await refused({ schedule_cron: null })).toBe('400 schedule_cron: required for the trigger schedule');
    expect(await refused({ schedule_cron: '0 25 * * *' })).toBe(
      '400 schedule_cron: hour must be 0 to 23, not "25" (at character 2)',
    );
    expect(await refused({ schedule_cron: '0 0 30 2 *' })).toBe('400 schedule_cron: never matches (at character 0)');
    expect(await refused({ schedule_timezone: 'Mars/Base' })).toBe('400 schedule_timezone: not an IANA time zone');
  });

  it('a Temporal Schedule follows its row: created, changed, disabled, enabled, rolled back, deleted', async () => {
    const automation = await make();
    const record = (await app.as(team.guest).get(path(automation))).body;
    expect(record).toMatchObject({ schedule_timezone: 'Europe/Berlin', next_run_at: record.next_runs[0] });
    expect(record.next_runs).toHaveLength(5);
    await shows(automation, NOTE);
    await app.as(team.manager).patch(path(automation), { schedule_cron: '0 9 1 * MON', name: 'Monthly' });
    await shows(automation, '0 9 1 * MON (Europe/Berlin) · Monthly');
    await call(`${automation.automation_id}/toggle`, { is_active: false });
    await shows(automation, 'gone');
    expect((await app.as(team.guest).get(path(automation))).body).toMatchObject({ next_run_at: null, next_runs: [] });
    await call(`${automation.automation_id}/toggle`, { is_active: true });
    await call(`${automation.automation_id}/rollback`, { version: 1 });
    await shows(automation, NOTE);
    await app.as(team.manager).delete(path(automation));
    await shows(automation, 'gone');
  });

  it('creates a Schedule saved while Temporal was unavailable; a project in the trash starts nothing', async () => {
    await worker.stop();
    let automation = { automation_id: '' };
    try {
      automation = await make({ schedule_cron: '* * * * *', ...project });
      expect(await db()('outbox').where({ subject: automation.automation_id }).pluck('kind')).toEqual(['schedule.sync']);
    } finally {
      worker = await runWorker(app);
    }
    await shows(automation, '* * * * * (Europe/Berlin) · Nightly');
    await app.as(team.admin).delete(`/api/projects/${project.project_id}`);
    const nothing = { is_active: true, next_run_at: null, next_runs: [] };
    expect((await app.as(team.guest).get(path(automation))).body).toMatchObject(nothing);
    const listed = (await app.as(team.guest).get(`/api/automations?team_id=${team.team_id}`)).body;
    expect(listed).toEqual([expect.objectContaining({ ...automation, ...nothing })]);
    const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString();
    expect(await fireSchedule(app.services, automation.automation_id, minute)).toMatch(/not enabled/);
    await app.as(team.manager).post(`/api/trash/project/${project.project_id}/restore`);
    expect((await app.as(team.guest).get(path(automation))).body.next_runs).toHaveLength(5);
  });

  it('the reconciler repairs lost and left-over workflows', async () => {
    const automation = await make();
    await shows(automation, NOTE);
    await findHandle(automation).delete();
    await until(async () => (await worker.reconcile()) >= 0 && (await buildNote(automation)) === NOTE);
    await db().raw('alter table automations disable trigger schedule_changed');
    await db()('automations')
      .where(automation.automation_id ? { automation_id: automation.automation_id } : {})
      .update({ is_active: false });
    await db().raw('alter table automations enable trigger schedule_changed');
    await until(async () => (await worker.reconcile()) >= 0 && (await buildNote(automation)) === 'gone');
  });

  it('one that Temporal refuses keeps no other from coming back, nor does one that belongs to no automation', async () => {
    const refused = await make();
    const lost = [await make(), await make(), await make()];
    for (const automation of [refused, ...lost]) await shows(automation, NOTE);
    const long = `30 2 * * *${' '.repeat(3_000_000)}`;
    await db()('automations').where(refused).update({ schedule_cron: long });
    const waits = () => db()('outbox').where({ kind: 'schedule.sync', subject: refused.automation_id });
    await until(async () => (await waits()).some(({ last_error }) => last_error !== null));
    // As if nobody were trying: the reconciler alone finds it.
    await db()('outbox').where({ kind: 'schedule.sync' }).delete();
    for (const automation of [refused, ...lost]) await findHandle(automation).delete();
    const { TASK_QUEUE_PREFIX } = app.services.config;
    const stray = { automation_id: 'of-no-automation' };
    const action = { type: 'startWorkflow', workflowType: 'x', taskQueue: 'nobody', args: [] } as const;
    await temporal.schedule.create({ scheduleId: scheduleId(TASK_QUEUE_PREFIX, stray.automation_id), spec: {}, action });
    for (const automation of lost)
      await until(async () => (await worker.reconcile()) >= 0 && (await buildNote(automation)) === NOTE);
    expect(await buildNote(refused)).toBe('gone');
    await until(async () => (await worker.reconcile()) >= 0 && (await buildNote(stray)) === 'gone');
    await app.as(team.manager).delete(path(refused));
  });

  it('a row of before fires in the zone that it means; one in a zone that nobody else knows has no Schedule and shows no times', async () => {
    const automation = await make();
    await shows(automation, NOTE);
    await db()('automations').where(automation).update({ schedule_timezone: 'us/pacific' });
    await shows(automation, '30 2 * * * (us/pacific) · Nightly');
    expect((await findHandle(automation).describe()).spec.timezone).toBe('US/Pacific');
    expect((await app.as(team.guest).get(path(automation))).body.next_runs).toHaveLength(5);
    await db()('automations').where(automation).update({ schedule_timezone: 'SystemV/EST5' });
    await shows(automation, 'gone');
    expect((await app.as(team.guest).get(path(automation))).body).toMatchObject({ next_run_at: null, next_runs: [] });
    await until(async () => (await db()('outbox').where({ subject: automation.automation_id })).length === 0);
  });

  it('the times that are shown are those at which the server fires, over both changes of the clock and month ends', async () => {
    const lines = [
      ['30 2 * * *', 'Europe/Berlin'],
      ['30 1 * * *', 'America/New_York'],
      ['30 1 * * SUN', 'Europe/London'],
      ['*/15 9-17 * * MON-FRI', 'Europe/London'],
      ['45 1,2 * * *', 'Australia/Lord_Howe'],
      ['0 0 * * *', 'America/Havana'],
      ['0 9 1,15 * MON', 'UTC'],
      ['15 */6 31 * *', 'Asia/Kolkata'],
      ['30 2 * * *', 'US/Pacific'],
      ['0 5 * * *', 'GMT'],
      ['0 0 29 2 *', 'UTC'],
      ['0 12 */10 * FRI', 'UTC'],
    ] as const;
    for (const [schedule_cron, schedule_timezone] of lines) {
      const automation = await make({ schedule_cron, schedule_timezone: schedule_timezone.toLowerCase() });
      await shows(automation, `${schedule_cron} (${schedule_timezone}) · Nightly`);
      const [from, to] = [new Date('2026-10-01T00:00:00Z'), new Date('2028-04-01T00:00:00Z')];
      const at = (date: Date) => ({ seconds: date.getTime() / 1_000 });
      const { startTime } = await temporal.workflowService.listScheduleMatchingTimes({
        namespace: 'default',
        scheduleId: scheduleId(app.services.config.TASK_QUEUE_PREFIX, automation.automation_id),
        startTime: at(from) as never,
        endTime: at(to) as never,
      });
      const parsed = parseCron(schedule_cron);
      if (!parsed.ok) throw new Error(parsed.message);
      const ours = nextTimes(parsed.cron, schedule_timezone, new Date(from.getTime() - 1), 10_000).filter((time) => time < to);
      // Of a time that a night has twice the second one makes no run.
      const seen = new Set<number>();
      const isFirst = (at: Date) => seen.size < seen.add(countsAs(parsed.cron, schedule_timezone, at).getTime()).size;
      const theirs = startTime
        .map(({ seconds }) => new Date(Number(seconds) * 1_000))
        .filter(isFirst)
        .map((at) => at.toISOString());
      expect(ours.slice(0, theirs.length).map((time) => time.toISOString())).toEqual(theirs);
    }
  });

  it('no nominal time fires twice, an old one not at all, and none that the row does not know', async () => {
    const automation = await make({ schedule_cron: '* * * * *', actions: [], condition: 'event.type == "schedule"' });
    // A minute that had passed before the Schedule was made: the server fires the coming ones by itself.
    const minute = new Date((Math.floor(Date.now() / 60_000) - 2) * 60_000).toISOString();
    const said = await Promise.all(Array.from({ length: 5 }, () => fireSchedule(app.services, automation.automation_id, minute)));
    expect(said.filter((words) => words.startsWith('run '))).toHaveLength(1);
    const run = await until(() =>
      buildRuns(automation).where({ status: 'succeeded' }).whereRaw("event->>'scheduled_for' = ?", [minute]).first(),
    );
    expect(run).toMatchObject({ trigger_type: 'schedule', depth: 0, triggered_by: null });
    const old = new Date(Date.parse(minute) - 20 * 60_000).toISOString();
    expect(await fireSchedule(app.services, automation.automation_id, old)).toMatch(/missed/);
    const odd = new Date(Date.parse(minute) + 1_000).toISOString();
    expect(await fireSchedule(app.services, automation.automation_id, odd)).toMatch(/no longer a time of the schedule/);
    await call(`${automation.automation_id}/toggle`, { is_active: false });
    expect(await fireSchedule(app.services, automation.automation_id, minute)).toMatch(/not enabled/);
  });

  it('a time that a night has twice fires once, whichever comes first; every hour is every hour', async () => {
    const fired = async (schedule_cron: string, ...times: string[]) => {
      const { automation_id } = await make({
        schedule_cron,
        schedule_timezone: 'America/New_York',
        condition: 'event.type == "x"',
      });
      const said: string[] = [];
      for (const time of times) said.push((await fireSchedule(app.services, automation_id, time)).replace(/:.*/, ''));
      return said;
    };
    const both = ['2031-11-02T05:30:00.000Z', '2031-11-02T06:30:00.000Z'] as const;
    expect(await fired('30 1 * * *', ...both)).toEqual(['skipped', 'nothing to do']);
    expect(await fired('30 1 * * *', ...both.toReversed())).toEqual(['skipped', 'nothing to do']);
    expect(await fired('30 1 * * *', both[0], '2031-11-03T06:30:00.000Z')).toEqual(['skipped', 'skipped']);
    expect(await fired('30 * * * *', ...both)).toEqual(['skipped', 'skipped']);
  });

  it('after an outage the server makes up for what was missed, each time once', async () => {
    const automation = await make({ schedule_cron: '* * * * *' });
    await shows(automation, '* * * * * (Europe/Berlin) · Nightly');
    const now = Math.floor(Date.now() / 60_000) * 60_000;
    const missed = { start: new Date(now - 15 * 60_000 - 1), end: new Date(now), overlap: 'ALLOW_ALL' as const };
    for (let twice = 0; twice < 2; twice += 1) await findHandle(automation).backfill(missed);
    await until(async () => (await buildRuns(automation)).length >= 9);
    await until(async () => (await buildRuns(automation).whereNull('finished_at')).length === 0);
    const times = (await buildRuns(automation)).map(({ event }) => event.scheduled_for as string);
    expect(new Set(times).size).toBe(times.length);
    // Those of the ten minutes before; the server also fires each minute that comes.
    expect(times.filter((time) => Date.parse(time) <= now).length).toBeLessThanOrEqual(11);
  });
});

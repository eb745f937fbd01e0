import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { deprovisionWorkflowId } from '../../workflows/contracts/deprovision-contract.js';
import { revocationWorkflowId } from '../../workflows/contracts/revocation-contract.js';
import { runWorkflowId, scheduleId } from '../../workflows/contracts/run-contract.js';
import { seriesWorkflowId } from '../../workflows/contracts/series-contract.js';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { type Client as ApiClient, startApp, type TestApp } from '../support/app.js';
import { queuePrefix, quietRuntime, until } from '../support/worker.js';
import { EXPORT_PLAYS, playExport } from './record-bulk.js';
import { IMPORT_PLAYS, playImport } from './record-import.js';
import { CYCLE_PLAYS, playCycle } from './record-cycle.js';
import { PLAN_ENDS, playPlan } from './record-plan.js';
import { playRequest, REQUEST_PLAYS } from './record-request.js';
import { JOB_PLAYS, JOB_SETTINGS, playJob } from './record-runner.js';
import { CI_PLAYS, CI_SETTINGS, NIGHTS, playFailure, playNight } from './record-triage.js';
import { allowModel } from '../api/agent/providers/converse.js';
import { answerTurns, closeTurnStage, openTurnStage, playTurn, TURN_PLAYS } from './record-turn.js';
import { startWorkerProcess } from '../support/worker-process.js';

/**
 * Histories recorded from a real server, replayed through today's workflow code: whoever changes the order of commands breaks
 * runs that are paused right now, and series that wait. Record them anew, after a change on purpose, with
 * `RECORD_HISTORIES=automation-run npm test -- test/workflows/replay`, or `recurring-task`, or `user-deprovision`, or a list of names.
 */
const DIRECTORY = join(import.meta.dirname, '../histories');
const RUNS = [
  'no-gate',
  'end-shown',
  'approved',
  'rejected',
  'lapsed-then-rejected',
  'failed-then-retried',
  'outbound',
  'asked-a-model',
  'sent-again',
  'delayed',
  'tried-again',
  'reminded',
  'quorum',
  'cancelled',
  'tested',
  'two-gates',
  'stopped',
  'expired',
  'cancelled-by-operator',
  'worker-killed',
];
const HELD_UP = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
const SERIES = ['done-until-count', 'on-schedule', 'trashed-then-ended', 'continued'];
const DEPROVISIONS = ['two-teams'];
const CASES = [
  ...RUNS.map((name) => `automation-run.${name}`),
  ...SERIES.map((name) => `recurring-task.${name}`),
  ...DEPROVISIONS.map((name) => `user-deprovision.${name}`),
  ...PLAN_ENDS.map((name) => `agent-plan.${name}`),
  ...TURN_PLAYS.map((name) => `agent-turn.${name}`),
  ...NIGHTS.map((name) => `overnight-triage.${name}`),
  ...[...CYCLE_PLAYS, 'worker-killed'].map((name) => `cycle-clock.${name}`),
  ...EXPORT_PLAYS.map((name) => `bulk-export.${name}`),
  ...CI_PLAYS.map((name) => `ci-triage.${name}`),
  ...IMPORT_PLAYS.map((name) => `bulk-import.${name}`),
  ...JOB_PLAYS.map((name) => `runner-job.${name}`),
  ...REQUEST_PLAYS.map((name) => `change-request.${name}`),
  'automation-schedule.fired',
  'connection-revocation.forgotten',
];

/** Tools of a scenario besides the API. */
interface Hands {
  temporal: Client;
  /** Kills the worker's process; the next one is there when it resolves. */
  replaceWorker: () => Promise<void>;
}
type Call = (path: string) => Promise<{ body: { run_id: string } }>;
type Play = (app: TestApp, runId: string, call: Call, hands: Hands) => Promise<string>;

/** Continues each recorded run after it paused or ended; returns the run whose history is stored. */
interface RunPlay {
  actions: Parameters<typeof buildAutomation>[2]['actions'];
  before?: (app: TestApp, team: TestTeam) => Promise<unknown>;
  play: Play;
}
const PLAYS: Record<string, RunPlay> = {
  'no-gate': { actions: [comment('a'), comment('b')], play: async (_app, runId) => runId },
  // As `no-gate`, which was recorded before a run that succeeded said so.
  'end-shown': { actions: [comment('a'), comment('b')], play: async (_app, runId) => runId },
  approved: {
    actions: [comment('a'), gate(), comment('b')],
    play: async (_app, runId, call) => (await call(`/api/automations/runs/${runId}/approve`)).body.run_id,
  },
  rejected: {
    actions: [comment('a'), gate(), comment('b')],
    play: async (_app, runId, call) => (await call(`/api/automations/runs/${runId}/reject`)).body.run_id,
  },
  'lapsed-then-rejected': {
    actions: [gate({ expires_in_seconds: 1 }), comment('b')],
    async play(app, runId, call) {
      await until(() => app.services.db('gates').where({ run_id: runId }).whereNotNull('lapsed_at').first());
      return (await call(`/api/automations/runs/${runId}/reject`)).body.run_id;
    },
  },
  'failed-then-retried': {
    actions: [comment('{{event.not_there}}'), comment('b')],
    play: async (_app, runId, call) => (await call(`/api/automations/dead-letter/${runId}/retry`)).body.run_id,
  },
  delayed: {
    actions: [comment('a'), { type: 'delay', params: { seconds: 1 } }, comment('b')],
    play: async (_app, runId) => runId,
  },
  'tried-again': {
    actions: [{ ...comment('a', 'never-comes'), retry: { max_attempts: 2 } }, comment('b')],
    play: async (_app, runId) => runId,
  },
  reminded: {
    actions: [gate({ remind_after_seconds: 1 }), comment('b')],
    async play(app, runId, call) {
      await until(() => app.services.db('gates').where({ run_id: runId }).whereNotNull('reminded_at').first());
      return (await call(`/api/automations/runs/${runId}/approve`)).body.run_id;
    },
  },
  // The first of two approvals only wakes the workflow to read the gate again.
  quorum: {
    actions: [gate({ required_approvals: 2 }), comment('b')],
    async play(app, runId, call) {
      await call(`/api/automations/runs/${runId}/approve`);
      await until(async () => (await app.services.db('outbox').where({ kind: 'run.wake' })).length === 0);
      return (await call(`/api/automations/runs/${runId}/cancel`)).body.run_id;
    },
  },
  cancelled: {
    actions: [comment('a'), gate(), comment('b')],
    play: async (_app, runId, call) => (await call(`/api/automations/runs/${runId}/cancel`)).body.run_id,
  },
  tested: {
    actions: [comment('a'), gate(), { type: 'delay', params: { seconds: 3600 } }],
    async play(app, runId, call) {
      const { automation_id } = await app.services.db('automation_runs').where({ run_id: runId }).first();
      return (await call(`/api/automations/${automation_id}/test`)).body.run_id;
    },
  },
  'two-gates': {
    actions: [gate(), comment('a'), gate(), comment('b')],
    async play(app, runId, call) {
      await call(`/api/automations/runs/${runId}/approve`);
      await until(() => app.services.db('gates').where({ run_id: runId, gate_index: 2 }).first());
      return (await call(`/api/automations/runs/${runId}/approve`)).body.run_id;
    },
  },
  stopped: {
    actions: [{ ...comment('{{event.not_there}}'), on_failure: 'stop' }, comment('b')],
    play: async (_app, runId) => runId,
  },
  // No decision for 30 days, which the row says have passed.
  expired: {
    actions: [gate({ expires_in_seconds: 1 }), comment('b')],
    async play({ services: { db } }, runId) {
      await until(() => db('gates').where({ run_id: runId }).whereNotNull('lapsed_at').first());
      await db('gates').update({ expires_at: db.raw("now() - interval '31 days'") });
      const { correlation_id } = await db('automation_runs').where({ run_id: runId }).first();
      await db('outbox').insert({ kind: 'run.wake', subject: runId, payload: { run_id: runId, incarnation: 1 }, correlation_id });
      return runId;
    },
  },
  'cancelled-by-operator': {
    actions: [comment('a'), gate(), comment('b')],
    async play(_app, runId, _call, { temporal }) {
      await temporal.workflow.getHandle(runWorkflowId(runId)).cancel();
      return runId;
    },
  },
  // Killed in the first step behind the gate, which is held up until the worker is gone.
  'worker-killed': {
    actions: [gate(), comment('a'), comment('b')],
    async play({ services: { db } }, runId, call, { replaceWorker }) {
      const holder = await db.transaction();
      await holder.raw('lock table comments in share mode');
      await call(`/api/automations/runs/${runId}/approve`);
      await until(async () => (await db.raw<{ rowCount: number }>(HELD_UP)).rowCount > 0);
      await replaceWorker();
      await holder.commit();
      return runId;
    },
  },
  // The first address is refused, the second has nobody behind it and is tried twice; recorded while Temporal waited for the second try.
  outbound: {
    actions: [
      { type: 'http_request', params: { method: 'GET', url: 'http://10.0.0.1/' } },
      { type: 'http_request', params: { method: 'GET', url: 'http://nobody.invalid/' }, retry: { max_attempts: 2 } },
      comment('b'),
    ],
    play: async (_app, runId) => runId,
  },
  // The first turn has no readable answer, the second one proposes; the run waits for both, and for its next attempt.
  'asked-a-model': {
    actions: [{ type: 'run_agent', params: { instruction: 'Close what is done' } }, comment('b')],
    async before(app, team) {
      await allowModel(app, team);
      answerTurns({ text: 'I propose it', calls: [{ name: 'task_set_status', input: { task_id: 'T1', status: 'done' } }] });
    },
    play: async (_app, runId) => runId,
  },
  // The row says when the second try is due.
  'sent-again': {
    actions: [
      { type: 'http_request', params: { method: 'GET', url: 'http://nobody.invalid/' }, retry: { max_attempts: 2 } },
      comment('b'),
    ],
    play: async (_app, runId) => runId,
  },
};

/** What people do to a series; ends when its workflow has done all that followed. Occurrences are found by their number. */
type SeriesPlay = (call: ApiClient, buildTask: (index: number) => Promise<string>) => Promise<unknown>;
const done = async (call: ApiClient, id: string) => call.patch(`/api/tasks/${id}/status`, { status: 'done' });

const SERIES_PLAYS: Record<string, { task: object; rounds?: number; play: SeriesPlay }> = {
  'done-until-count': {
    task: { due_date: '2026-01-31', recurrence: { rule: 'FREQ=MONTHLY;COUNT=3', mode: 'on_complete', timezone: 'UTC' } },
    async play(call, buildTask) {
      for (const index of [1, 2, 3]) await done(call, await buildTask(index));
    },
  },
  'on-schedule': {
    task: { recurrence: { rule: 'FREQ=DAILY', mode: 'on_schedule', timezone: 'UTC' } },
    async play(call, buildTask) {
      const due_date = new Date(Date.now() - 86_400_000 + 1_500).toISOString();
      await call.patch(`/api/tasks/${await buildTask(1)}`, { due_date });
      await call.patch(`/api/tasks/${await buildTask(2)}`, { recurrence: null });
    },
  },
  'trashed-then-ended': {
    task: { due_date: '2026-01-05', recurrence: { rule: 'FREQ=WEEKLY', mode: 'on_complete', timezone: 'UTC' } },
    async play(call, buildTask) {
      await call.delete(`/api/tasks/${await buildTask(1)}`);
      await call.post(`/api/trash/task/${await buildTask(1)}/restore`);
      await done(call, await buildTask(1));
      await call.patch(`/api/tasks/${await buildTask(2)}`, { recurrence: null });
    },
  },
  continued: {
    task: { due_date: '2026-01-05', recurrence: { rule: 'FREQ=WEEKLY;COUNT=3', mode: 'on_complete', timezone: 'UTC' } },
    rounds: 2,
    async play(call, buildTask) {
      for (const index of [1, 2, 3]) await done(call, await buildTask(index));
    },
  },
};

interface Stage extends Hands {
  app: TestApp;
  team: TestTeam;
  project: { project_id: string };
}

/** Keeps the history of a workflow's first execution once it has ended. */
async function keep({ temporal }: Stage, name: string, workflowId: string): Promise<void> {
  // However it ended: an operator's cancel shows as one.
  await temporal.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);
  const { firstExecutionRunId } =
    (await temporal.workflow.getHandle(workflowId).fetchHistory()).events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  const first = temporal.workflow.getHandle(workflowId, firstExecutionRunId ?? undefined);
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(join(DIRECTORY, `${name}.json`), `${historyToJSON(await first.fetchHistory())}\n`);
}

async function recordSeries(stage: Stage, name: string): Promise<void> {
  const { app, team, project, temporal } = stage;
  const { task, rounds, play } = SERIES_PLAYS[name] as (typeof SERIES_PLAYS)[string];
  const { series_id } = (await buildTask(app, team, project, { ...task })) as unknown as { series_id: string };
  const { db, config } = app.services;
  const workflowId = seriesWorkflowId(series_id);
  await until(async () => (await db('outbox').where({ subject: series_id })).length === 0);
  if (rounds) {
    await temporal.workflow.getHandle(workflowId).terminate('for a shorter one');
    const taskQueue = `${config.TASK_QUEUE_PREFIX}core`;
    await temporal.workflow.start('recurringTask', { workflowId, taskQueue, args: [{ seriesId: series_id, rounds }] });
  }
  await play(app.as(team.member), async (occurrence_index) => {
    const row = await until(() => db('tasks').where({ series_id, occurrence_index }).first());
    // Each step is a round of its own in the history, not folded into the one before.
    await new Promise((resolve) => setTimeout(resolve, 300));
    return (row as { task_id: string }).task_id;
  });
  await keep(stage, `recurring-task.${name}`, workflowId);
}

async function recordRun(stage: Stage, name: string): Promise<void> {
  const { actions, before, play } = PLAYS[name] as RunPlay;
  const { app, team, project } = stage;
  await before?.(app, team);
  const automation = await buildAutomation(app, team, { actions });
  await buildTask(app, team, project);
  const settled = (where: object) =>
    until(() =>
      app.services.db('automation_runs').where(where).whereIn('status', ['paused', 'succeeded', 'failed', 'skipped']).first(),
    );
  const run = (await settled(automation)) as { run_id: string };
  const kept = await play(app, run.run_id, (path) => app.as(team.manager).post(path) as never, stage);
  await until(() => app.services.db('automation_runs').where({ run_id: kept }).whereNotNull('finished_at').first(), 40_000);
  await keep(stage, `automation-run.${name}`, runWorkflowId(kept));
}

/** Deprovisions a manager of two teams, with an open task in one. */
async function recordDeprovision(stage: Stage, name: string): Promise<void> {
  const { app, team, project } = stage;
  const { user_id } = team.manager;
  const other = await buildTeam(app);
  await app.services.db('memberships').insert({ team_id: other.team_id, user_id, role: 'guest' });
  await buildTask(app, team, project, { assigned_to: user_id });
  const root = await buildPerson(app, { role: 'admin' });
  const { body } = await app.as(root).post(`/api/admin/users/${user_id}/deprovision`, { reason: 'Left the company' });
  await until(() => app.services.db('deprovision_jobs').where({ job_id: body.job_id, status: 'succeeded' }).first());
  await keep(stage, `user-deprovision.${name}`, deprovisionWorkflowId(user_id));
}

/** A time of a schedule, made to come by hand. */
async function recordSchedule({ app, team, ...stage }: Stage, name: string): Promise<void> {
  const minutely = { name: 'Minutely', trigger_type: 'schedule', schedule_cron: '* * * * *', team_id: team.team_id };
  const { automation_id } = (await app.as(team.manager).post('/api/automations', minutely)).body;
  const handle = stage.temporal.schedule.getHandle(scheduleId(app.services.config.TASK_QUEUE_PREFIX, automation_id));
  await until(() => handle.describe().catch(() => undefined));
  await handle.backfill({ start: new Date(Date.now() - 120_000), end: new Date() });
  await until(() => app.services.db('automation_runs').where({ automation_id }).whereNotNull('finished_at').first());
  const started = await until(async () => (await handle.describe()).info.recentActions[0]?.action);
  await keep({ app, team, ...stage }, `automation-schedule.${name}`, started.workflow.workflowId);
}

/** Deletes a connection to a provider without an OAuth client: nobody revokes its tokens. */
async function recordRevocation({ app, team, ...stage }: Stage, name: string): Promise<void> {
  const { user_id } = team.member;
  const sealed = { data_key: Buffer.alloc(1), sealed_value: Buffer.alloc(1) };
  await app.services.db('integration_connections').insert({ user_id, provider: 'forge', account: 'a', scopes: [], ...sealed });
  await app.as(team.member).delete('/api/integrations/forge');
  const [id = ''] = await app.services.db('outbox').where({ kind: 'integration.revoke' }).pluck<string[]>('subject');
  await until(async () => (await app.services.db('integration_revocations')).length === 0);
  await keep({ app, team, ...stage }, `connection-revocation.${name}`, revocationWorkflowId(id));
}

const RECORDERS: Record<string, (stage: Stage, name: string) => Promise<void>> = {
  'agent-plan': async (stage, name) => keep(stage, `agent-plan.${name}`, await playPlan(stage, name)),
  'agent-turn': async (stage, name) => keep(stage, `agent-turn.${name}`, await playTurn(stage, name)),
  'overnight-triage': async (stage, name) => keep(stage, `overnight-triage.${name}`, await playNight(stage, name)),
  'ci-triage': async (stage, name) => keep(stage, `ci-triage.${name}`, await playFailure(stage, name)),
  'bulk-export': async (stage, name) => keep(stage, `bulk-export.${name}`, await playExport(stage, name)),
  'cycle-clock': async (stage, name) => keep(stage, `cycle-clock.${name}`, await playCycle(stage, name)),
  'bulk-import': async (stage, name) => keep(stage, `bulk-import.${name}`, await playImport(stage, name)),
  'runner-job': async (stage, name) => keep(stage, `runner-job.${name}`, await playJob(stage, name)),
  'change-request': async (stage, name) => keep(stage, `change-request.${name}`, await playRequest(stage, name)),
  'automation-run': recordRun,
  'recurring-task': recordSeries,
  'user-deprovision': recordDeprovision,
  'automation-schedule': recordSchedule,
  'connection-revocation': recordRevocation,
};

async function record(name: string): Promise<void> {
  const ofCi = name.startsWith('ci-triage.') ? CI_SETTINGS : name.startsWith('runner-job.') ? JOB_SETTINGS : {};
  const settings = name.startsWith('agent-turn.') || name === 'automation-run.asked-a-model' ? await openTurnStage() : ofCi;
  const app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix(), ...settings });
  let worker = await startWorkerProcess(app, settings);
  const replaceWorker = async () => {
    worker.kill('SIGKILL');
    worker = await startWorkerProcess(app, settings);
  };
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  try {
    const team = await buildTeam(app);
    const project = await buildProject(app, team);
    const [type = '', play = ''] = name.split('.');
    await RECORDERS[type]?.({ app, team, project, temporal: new Client({ connection }), replaceWorker }, play);
  } finally {
    worker.kill('SIGKILL');
    await connection.close();
    closeTurnStage();
    await app.close();
  }
}

beforeAll(async () => {
  quietRuntime();
  const wanted = process.env['RECORD_HISTORIES'];
  if (!wanted) return;
  const names = wanted.split(',');
  for (const name of CASES.filter((each) => names.some((begin) => each.startsWith(begin)))) await record(name);
}, 600_000);

const codePath = process.env['ASSENT_TEST_BUNDLE'] as string;
const load = (file: string) => historyFromJSON(JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')));

it('there is a history for every way a run or a series can go', () => {
  expect(readdirSync(DIRECTORY).sort()).toEqual(CASES.map((name) => `${name}.json`).sort());
});

it('every recorded history replays through the present code', async () => {
  const histories = CASES.map((name) => ({ workflowId: name, history: load(`${name}.json`) }));
  const outcomes: Record<string, unknown> = {};
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { codePath } }, histories))
    outcomes[workflowId] = error;
  expect(outcomes).toEqual(Object.fromEntries(CASES.map((name) => [name, undefined])));
});

it('a history that the code would not make is refused', async () => {
  const text = readFileSync(join(DIRECTORY, 'automation-run.approved.json'), 'utf8');
  const history = historyFromJSON(JSON.parse(text.replaceAll('"automationRun"', '"housekeeping"')));
  await expect(Worker.runReplayHistory({ workflowBundle: { codePath } }, history, 'other')).rejects.toThrow(/determinis/i);
});

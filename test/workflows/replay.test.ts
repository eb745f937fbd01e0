import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, quietRuntime, runWorker, until } from '../support/worker.js';

/**
 * Histories recorded from a real server, replayed through today's workflow code: whoever changes the order of commands breaks
 * runs that are paused right now. Record them anew, after a change on purpose, with
 * `RECORD_HISTORIES=1 npm test -- test/workflows/replay`.
 */
const DIRECTORY = join(import.meta.dirname, '../histories');
const CASES = ['no-gate', 'approved', 'rejected', 'lapsed-then-rejected', 'failed-then-retried'];

type Play = (app: TestApp, runId: string, call: (path: string) => Promise<{ body: { run_id: string } }>) => Promise<string>;

/** What happens to each recorded run after it paused or ended; returns the run whose history is kept. */
const PLAYS: Record<string, { actions: Parameters<typeof buildAutomation>[2]['actions']; play: Play }> = {
  'no-gate': { actions: [comment('a'), comment('b')], play: async (_app, runId) => runId },
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
};

async function record(name: string): Promise<void> {
  const { actions, play } = PLAYS[name] as (typeof PLAYS)[string];
  const app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  const worker = await runWorker(app);
  const team = await buildTeam(app);
  const automation = await buildAutomation(app, team, { actions });
  await buildTask(app, team, await buildProject(app, team));
  const settled = (where: object) =>
    until(() =>
      app.services.db('automation_runs').where(where).whereIn('status', ['paused', 'succeeded', 'failed', 'skipped']).first(),
    );
  const run = (await settled(automation)) as { run_id: string };
  const kept = await play(app, run.run_id, (path) => app.as(team.manager).post(path) as never);
  await until(() => app.services.db('automation_runs').where({ run_id: kept }).whereNotNull('finished_at').first());
  const connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  const handle = new Client({ connection }).workflow.getHandle(`run:${kept}`);
  await handle.result();
  mkdirSync(DIRECTORY, { recursive: true });
  writeFileSync(join(DIRECTORY, `automation-run.${name}.json`), `${historyToJSON(await handle.fetchHistory())}\n`);
  await connection.close();
  await worker.stop();
  await app.close();
}

beforeAll(async () => {
  quietRuntime();
  if (!process.env['RECORD_HISTORIES']) return;
  for (const name of CASES) await record(name);
}, 120_000);

const codePath = process.env['ASSENT_TEST_BUNDLE'] as string;
const load = (file: string) => historyFromJSON(JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')));

it('there is a history for every way a run can go', () => {
  expect(readdirSync(DIRECTORY).sort()).toEqual(CASES.map((name) => `automation-run.${name}.json`).sort());
});

it('every recorded history replays through the present code', async () => {
  const histories = CASES.map((name) => ({ workflowId: name, history: load(`automation-run.${name}.json`) }));
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

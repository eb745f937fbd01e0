import { Client, Connection } from '@temporalio/client';
import { ciSubject } from '../../api/automation/triage/ci-subject.js';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { send } from '../api/integrations/forge/deliver.js';
import { buildProject, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { readKept } from '../support/histories.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';

// The triage of a failed CI run, from the delivery to the plan.

let app: TestApp;
let worker: RunningWorker | undefined;
let connection: Connection;
let temporal: Client;
let team: TestTeam;
const repo = 'acme/rocket';
beforeAll(async () => {
  app = await startApp({
    TASK_QUEUE_PREFIX: queuePrefix(),
    FORGE_WEBHOOK_SECRET: 'shared',
    FORGE_BINDING: 'open',
    CI_TRIAGE_SECONDS: '2',
  });
  team = await buildTeam(app);
  const { project_id } = await buildProject(app, team);
  await app.as(team.admin).post('/api/forge/repositories', { repo, team_id: team.team_id, project_id, sync_issues: false });
  await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { ci_triage: { enabled: true } });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
});
afterAll(async () => {
  await worker?.stop();
  await connection.close();
  await app.close();
});

const fail = (id: number, patch: object = {}) =>
  send(app, 'workflow_run.failed', {
    'repository.full_name': repo,
    'workflow_run.id': id,
    'workflow_run.name': 'Secret name',
    ...patch,
  });
const findHandle = (run_id: number) => temporal.workflow.getHandle(ciSubject(team.team_id, { repo, run_id, sha: null }) ?? '');
const readSignals = async (id: number) => {
  const { events = [] } = await findHandle(id).fetchHistory();
  return (events ?? []).filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal).length;
};

it('several deliveries of a run are one workflow and one plan of the last one; its history holds ids only', async () => {
  await fail(1, { 'workflow_run.run_attempt': 1 });
  await fail(1, { 'workflow_run.run_attempt': 2, 'workflow_run.head_branch': 'latest' });
  // Both are there when the worker comes, so that the second arrives within the quiet time of the first.
  worker = await runWorker(app);
  await until(() =>
    findHandle(1)
      .describe()
      .catch(() => undefined),
  );
  const result = await findHandle(1).result();
  expect(result).toMatchObject({ outcome: 'proposed', changes: 1, risk: 'low' });
  expect(await readSignals(1)).toBe(2);
  const [plan] = await app.services.db('agent_plans').where({ action_id: result.actionId });
  expect(plan.trigger).toMatchObject({ branch: 'latest', forge_run_id: 1 });
  const kept = await readKept(findHandle(1));
  for (const word of ['Secret name', 'latest']) expect(kept).not.toContain(word);
  const { currentDetails } = await findHandle(1).query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('1 change proposed, highest risk low');
  const described = await findHandle(1).describe();
  expect(await described.staticSummary()).toBe('Triage of a failed CI run');
  expect(JSON.stringify(described.typedSearchAttributes.getAll())).toContain('ci_triage');
});

it('a further delivery of a run that has its plan starts nothing', async () => {
  await fail(1, { 'workflow_run.run_attempt': 3 });
  await until(
    async () => (await app.services.db('outbox').where({ kind: 'forge.delivery' }).orWhere({ kind: 'event' })).length === 0,
  );
  await until(async () => (await app.services.db('outbox').where({ kind: 'triage.ci' })).length === 0);
  expect((await findHandle(1).describe()).status.name).toBe('COMPLETED');
  expect(await app.services.db('agent_sessions').where({ kind: 'ci_triage' })).toHaveLength(1);
});

it('a run whose triage was disabled meanwhile ends without an error', async () => {
  await fail(2);
  await until(() =>
    findHandle(2)
      .describe()
      .catch(() => undefined),
  );
  await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { ci_triage: { enabled: false } });
  expect(await findHandle(2).result()).toEqual({ outcome: 'off' });
});

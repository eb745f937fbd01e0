import type { Client } from '@temporalio/client';
import { planWorkflowId } from '../../workflows/contracts/plan-contract.js';
import { runWorkflowId } from '../../workflows/contracts/run-contract.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildAutomation, comment, gate } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { until, untilRunIs, startWithWorker } from '../support/worker.js';
import { playImport } from './record-import.js';

// What operators read in Temporal about what has ended, and about who set it off.

let app: TestApp;
let temporal: Client;
let end: () => Promise<void>;
let team: TestTeam;
let project: { project_id: string };
beforeAll(async () => {
  ({ app, temporal, end } = await startWithWorker());
});
afterAll(() => end());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

/** What is shown of a workflow that has ended. */
async function shown(workflowId: string) {
  const handle = temporal.workflow.getHandle(workflowId);
  await handle.result();
  const description = await handle.describe();
  const attributes = Object.fromEntries(description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  return { attributes, summary: await description.staticSummary(), details: await description.staticDetails() };
}
const nowhere = comment('lost', 'never-there');

it('a run that succeeded says so, and who set it off', async () => {
  const automation = await buildAutomation(app, team, { actions: [comment('seen')] });
  const answer = await app.as(team.admin).post('/api/tasks', { title: 'Hello', project_id: project.project_id });
  expect(answer.status).toBe(201);
  const { run_id } = await untilRunIs(app, automation, 'succeeded');
  const { attributes, details } = await shown(runWorkflowId(run_id));
  expect(attributes).toMatchObject({ RunState: 'succeeded', ActorId: team.manager.user_id });
  expect(details).toContain(`Triggered by \`${team.admin.user_id}\``);
});

it('a replay names the run that it replays, and who asked for it', async () => {
  const automation = await buildAutomation(app, team, { actions: [nowhere] });
  await buildTask(app, team, project);
  const { run_id } = await untilRunIs(app, automation, 'failed');
  const { body } = await app.as(team.admin).post(`/api/automations/dead-letter/${run_id}/retry`, {});
  await until(() => app.services.db('automation_runs').where({ run_id: body.run_id, status: 'failed' }).first());
  const replay = await shown(runWorkflowId(body.run_id));
  expect(replay.summary).toBe('Test automation · task.created · replay');
  expect(replay.details).toContain(`Replay of the failed run \`${run_id}\``);
  expect(replay.details).toContain(`workflow \`run:${run_id}\``);
  expect(replay.details).toContain(`Replayed by \`${team.admin.user_id}\``);
  const original = await shown(runWorkflowId(run_id));
  expect([original.attributes['RunState'], original.summary]).toEqual(['failed', 'Test automation · task.created']);
});

it('a gate that was rejected says so, also behind a failed action', async () => {
  const automation = await buildAutomation(app, team, { actions: [nowhere, gate(), comment('tail')] });
  await buildTask(app, team, project);
  const { run_id } = await untilRunIs(app, automation, 'paused');
  await app.as(team.manager).post(`/api/automations/runs/${run_id}/reject`);
  const { status } = await untilRunIs(app, automation, 'failed', 'skipped');
  expect((await shown(runWorkflowId(run_id))).attributes).toMatchObject({ RunState: status, GateState: 'rejected' });
});

it('a plan of a chat has the team of what it changes, and says how it ended', async () => {
  const { task_id } = await buildTask(app, team, project);
  const session = await buildSession(app, team.member);
  const action = { tool: 'task.comment' as const, entity_id: task_id, params: { content: 'x' } };
  const { action_id } = await staged(app, team.member, [action], { session });
  const describe = () => temporal.workflow.getHandle(planWorkflowId(action_id)).describe();
  await until(() => describe().catch(() => undefined));
  const body = { session_id: session.session_id, action_id, confirmed: true };
  expect((await app.as(team.member).post('/api/ai-workspace/agent/confirm', body)).status).toBe(200);
  const { attributes } = await shown(planWorkflowId(action_id));
  expect(attributes).toMatchObject({ TeamId: team.team_id, RunState: 'applied', GateState: 'approved' });
});

it('the undo of an import is no import, and names who asked for it', async () => {
  const { attributes, summary } = await shown(await playImport({ app, team, project, temporal }, 'undone'));
  expect(attributes).toMatchObject({ Process: 'bulk_undo', ActorId: team.manager.user_id, RunState: 'succeeded' });
  expect(summary).toBe('Undo of an import (ndjson)');
});

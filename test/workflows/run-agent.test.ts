import { triageNight } from '../../api/automation/triage/triage-night.js';
import type { RunningWorker } from '../../activities/worker/start-worker.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { skippedRuns } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix, runWorker, until } from '../support/worker.js';

// Automations that ask the agent, and plans that start automations.

let app: TestApp;
let worker: RunningWorker;
let team: TestTeam;
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  worker = await runWorker(app);
});
afterAll(async () => {
  await worker.stop();
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  task = await buildTask(app, team, await buildProject(app, team), { title: 'Login 500', due_date: '2020-01-01' });
  await app.as(team.admin).put(`/api/ai-workspace/settings?team_id=${team.team_id}`, { overnight_triage: { enabled: true } });
});

const db = () => app.services.db;
const ask = (instruction: string) => ({
  type: 'run_agent',
  params: { instruction, link: [{ item_type: 'task', item_id: task.task_id }] },
});
const automate = async (trigger_type: string, actions: object[], condition: string | null = null) => {
  const body = { name: 'Ask the agent', team_id: team.team_id, trigger_type, condition, actions, is_active: true };
  const made = await app.as(team.manager).post('/api/automations', body);
  expect(made.status).toBe(201);
  return made.body as { automation_id: string };
};
const night = () => triageNight(app.services, team.team_id, new Date().toISOString());
const findRuns = async ({ automation_id }: { automation_id: string }) => {
  const runs: { depth: number; status: string; skip_reason: string | null }[] = await db()('automation_runs')
    .where({ automation_id })
    .orderBy('depth')
    .select('run_id', 'status', 'skip_reason', 'depth');
  const skipped = await skippedRuns(app, { automation_id });
  const last = skipped.map(({ depth, is_loop }) => ({
    depth,
    status: 'skipped',
    skip_reason: is_loop ? 'loop' : 'condition_false',
  }));
  return [...runs, ...last];
};

it('a loop of plans that ask for plans ends at depth 10', async () => {
  const automation = await automate('agent.plan_staged', [ask('comment on it: once more')]);
  await night();
  const runs = await until(async () => {
    const found = await findRuns(automation);
    return found.some(({ skip_reason }) => skip_reason === 'loop') && found.every(({ status }) => status !== 'running') && found;
  }, 120_000);
  expect(runs.map(({ depth, status, skip_reason }) => [depth, status, skip_reason])).toEqual([
    ...Array.from({ length: 11 }, (_, depth) => [depth, 'succeeded', null]),
    [11, 'skipped', 'loop'],
  ]);
  const plans = await db()('agent_plans').where({ team_id: team.team_id, source: 'automation' }).orderBy('depth');
  expect(plans.map(({ depth, status }) => [depth, status])).toEqual(Array.from({ length: 11 }, (_, n) => [n + 1, 'staged']));
  expect(await db()('comments').where({ task_id: task.task_id })).toEqual([]);
}, 120_000);

it('a confirmed plan starts what waits for it, and the conditions read its facts', async () => {
  const applied = await automate(
    'agent.plan_applied',
    [{ type: 'add_comment', params: { task_id: task.task_id, content: 'Applied: {{event.plan.summary}}' } }],
    'event.plan.source == "overnight_triage" && event.plan.risk == "low"',
  );
  const { actionId } = await night();
  const { session_id } = await db()('agent_plans').where({ action_id: actionId }).first('session_id');
  const answer = await app
    .as(team.manager)
    .post('/api/ai-workspace/agent/confirm', { session_id, action_id: actionId, confirmed: true });
  expect(answer.status).toBe(200);
  await until(async () => (await findRuns(applied)).some(({ status }) => status === 'succeeded'));
  expect(await db()('comments').where({ task_id: task.task_id }).pluck('content')).toEqual(['Applied: 1 task update']);
});

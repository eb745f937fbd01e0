import { maintenanceActivities } from '../../../../activities/maintenance.js';
import { buildProject, buildTask, buildTeam } from '../../../factories/people.js';
import { staged } from '../../../factories/agent.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('a plan that ended 90 days ago is deleted with its texts; what waits and what was decided since stays', async () => {
  const team = await buildTeam(app);
  const member = app.as(team.member);
  const task = await buildTask(app, team, await buildProject(app, team), { title: 'Rivet' });
  const rename = (title: string) =>
    staged(app, team.member, [{ tool: 'task.update', entity_id: task.task_id, params: { title } }]);
  const decide = async (action_id: string, confirmed: boolean) => {
    const { session_id } = await app.services.db('agent_plans').where({ action_id }).first();
    expect((await member.post('/api/ai-workspace/agent/confirm', { session_id, action_id, confirmed })).status).toBe(200);
  };
  const [applied, discarded, waiting] = [await rename('Bolt'), await rename('Screw'), await rename('Nail')];
  await decide(applied.action_id, true);
  await decide(discarded.action_id, false);
  const undo = await member.post(`/api/ai-workspace/agent/plans/${applied.action_id}/undo`);
  expect(undo.status).toBe(200);
  const plans = () => app.services.db('agent_plans');
  const job = () => maintenanceActivities(app.services).runMaintenanceJob('plan-history');
  expect(await job()).toBe('deleted 0 plans');
  const old = { decided_at: app.services.db.raw("now() - interval '91 days'") };
  await plans().where({ action_id: applied.action_id }).update(old);
  expect(await job()).toBe('deleted 1 plans');
  const left = await plans().select('action_id', 'undo_of').orderBy('staged_at');
  expect(left).toEqual([
    { action_id: discarded.action_id, undo_of: null },
    { action_id: waiting.action_id, undo_of: null },
    { action_id: undo.body.action_id, undo_of: null },
  ]);
  expect(await app.services.db('agent_actions').where({ action_id: applied.action_id })).toEqual([]);
  const audit = await app.services.db('audit_entries').where({ entity_id: applied.action_id, action: 'confirm' });
  expect(audit).toHaveLength(1);
});

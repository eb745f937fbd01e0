import { maintenanceActivities } from '../../../../activities/maintenance.js';
import { buildProject, buildTask, buildTeam, buildToken } from '../../../factories/people.js';
import { buildSession, staged } from '../../../factories/agent.js';
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

it('deletes the text of an outside agent with its plan, and keeps its messages in a session', async () => {
  const { db } = app.services;
  const team = await buildTeam(app);
  const task = await buildTask(app, team, await buildProject(app, team));
  await buildToken(app, team.member, ['ai:chat'], { mcp_only: true });
  const { token_id } = await db('personal_access_tokens').where({ user_id: team.member.user_id, mcp_only: true }).first();
  const user = { user_id: team.member.user_id };
  const sessions = [await buildSession(app, user, { kind: 'mcp', token_id }), await buildSession(app, user)];
  const said = async (session: (typeof sessions)[number], days: number) => {
    const plan = await staged(
      app,
      team.member,
      [{ tool: 'task.update', entity_id: task.task_id, params: { title: `D${days}` } }],
      {
        session,
      },
    );
    const { session_id } = session;
    const content = `${days} days`;
    await db('agent_messages').insert({ session_id, role: 'assistant', content, action_id: plan.action_id });
    const ended = { status: 'discarded', decided_at: db.raw('now() - make_interval(days => ?)', [days]) };
    await db('agent_plans')
      .where({ action_id: plan.action_id })
      .update({ ...ended, decided_by: team.member.user_id });
  };
  for (const session of sessions) for (const days of [89, 91]) await said(session, days);
  await maintenanceActivities(app.services).runMaintenanceJob('plan-history');
  const left = (session_id: string | undefined) =>
    db('agent_messages').where({ session_id }).orderBy('position').pluck('content');
  expect(await left(sessions[0]?.session_id)).toEqual(['89 days']);
  expect(await left(sessions[1]?.session_id)).toEqual(['89 days', '91 days']);
});

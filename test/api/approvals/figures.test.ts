import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

const figures = async (query: string, person: Person) =>
  (await app.as(person).get(`/api/approvals/figures?team_id=${team.team_id}${query}`)).body.figures;

it('counts every end once, with how long people took', async () => {
  const { automation_id, ...first } = await buildRun(app, team, { actions: [GATE] });
  const gated = () => buildRun(app, team, { automation: { automation_id } });
  const decide = (run_id: string, verb: string, person: Person) =>
    app.as(person).post(`/api/automations/runs/${run_id}/${verb}`, {});
  await decide(first.run_id, 'approve', team.manager);
  await decide((await gated()).run_id, 'reject', team.admin);
  await decide((await gated()).run_id, 'cancel', team.manager);
  const late = await gated();
  await app.services
    .db('gates')
    .where({ run_id: late.run_id })
    .update({ expires_at: new Date(Date.now() - 1_000) });
  await decide(late.run_id, 'reject', team.manager);
  const { task_id } = await buildTask(app, team, await buildProject(app, team));
  const session = await buildSession(app, team, { kind: 'overnight_triage' });
  const actions = [{ tool: 'task.comment' as const, entity_id: task_id, params: { content: 'Hi' } }];
  const plan = await staged(app, team.admin, actions, { session, source: 'overnight_triage', lifeHours: 1 });
  await app
    .as(team.manager)
    .post('/api/ai-workspace/agent/confirm', { session_id: session.session_id, action_id: plan.action_id });

  expect(await figures('', team.guest)).toEqual([
    {
      key: automation_id,
      count: 4,
      approved: 1,
      rejected: 1,
      expired: 1,
      cancelled: 1,
      // The gates of the test were asked for a day ago.
      waiting_p50_seconds: expect.closeTo(86_400, -3),
      waiting_p95_seconds: expect.closeTo(86_400, -3),
    },
    {
      key: 'overnight_triage',
      count: 1,
      approved: 1,
      rejected: 0,
      expired: 0,
      cancelled: 0,
      waiting_p50_seconds: expect.any(Number),
      waiting_p95_seconds: expect.any(Number),
    },
  ]);
  const approvers = (rows: { key: string; count: number }[]) => Object.fromEntries(rows.map(({ key, count }) => [key, count]));
  expect(approvers(await figures('&by=approver', team.manager))).toEqual({ [team.manager.user_id]: 3, [team.admin.user_id]: 1 });
  expect(approvers(await figures('&by=approver', team.member))).toEqual({});
  const past = await figures('&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z', team.admin);
  expect(past).toEqual([]);
});

it('refuses strangers and spans that make no sense', async () => {
  const stranger = await buildTeam(app);
  const status = async (query: string, person: Person) => (await app.as(person).get(`/api/approvals/figures?${query}`)).status;
  expect(await status(`team_id=${team.team_id}`, stranger.admin)).toBe(403);
  expect(await status('from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z', team.admin)).toBe(400);
  expect(await status('from=2020-01-01T00:00:00Z', team.admin)).toBe(400);
  expect(await status('from=yesterday', team.admin)).toBe(422);
  expect(await status('', team.admin)).toBe(200);
});

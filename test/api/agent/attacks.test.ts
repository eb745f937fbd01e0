import { buildSession, staged } from '../../factories/agent.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Answer, type Client, startApp, type TestApp } from '../../support/app.js';
import { computeDigest } from './mcp/digest.js';

// Attacks on plans and sessions by callers who are somebody else, and by callers who ask too often.

let app: TestApp;
let team: TestTeam;
let plan: Awaited<ReturnType<typeof staged>>;
let session_id: string;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  const { task_id } = await buildTask(app, team, await buildProject(app, team));
  const session = await buildSession(app, team.member);
  ({ session_id } = session);
  const close = { tool: 'task.set_status' as const, entity_id: task_id, params: { status: 'done' } };
  plan = await staged(app, team.member, [close], { session });
});

const db = () => app.services.db;
const codes = (answers: Answer[]): number[] => answers.map(({ status }) => status);
const decision = (fields: object = {}) => ({ session_id, action_id: plan.action_id, ...fields });
const decide = (client: Client, fields: object = {}) => client.post('/api/ai-workspace/agent/confirm', decision(fields));

it('an administrator who acts as a person decides nothing for them, and discards nothing by deleting a session', async () => {
  const root = app.as(await buildPerson(app, { role: 'admin' }));
  const as = async ({ user_id }: { user_id: string }) =>
    app.as((await root.post('/api/admin/impersonate', { user_id, reason: 'Ticket 4711' })).body as { token: string });
  const [acting, actingAdmin] = [await as(team.member), await as(team.admin)];
  const before = await computeDigest(app);
  const settings = { overnight_triage: { enabled: true }, external_model: { enabled: true } };
  const tried = [
    decide(acting),
    decide(acting, { confirmed: false }),
    acting.post('/api/ai-workspace/actions/confirm', decision()),
    acting.delete(`/api/ai-workspace/sessions/${session_id}`),
    acting.post('/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    acting.post('/api/auth/tokens', { name: 'mine', scopes: ['ai:chat'], mcp_only: true }),
    actingAdmin.put(`/api/ai-workspace/settings?team_id=${team.team_id}`, settings),
  ];
  expect(codes(await Promise.all(tried))).toEqual(tried.map(() => 403));
  expect(await computeDigest(app)).toEqual(before);
  expect(await db()('agent_plans').where({ action_id: plan.action_id }).first()).toMatchObject({ status: 'staged' });
  expect(await db()('agent_sessions').where({ session_id }).first()).toMatchObject({ deleted_at: null });
});

it('sends no signal, notification or audit entry for a rejected or repeated request', async () => {
  const member = app.as(team.member);
  const marks = async () => ({
    outbox: await db()('outbox')
      .where('kind', 'like', 'plan.%')
      .orWhere('kind', 'like', 'turn.%')
      .orderBy('outbox_id')
      .pluck('outbox_id'),
    notices: (await db()('notifications').where({ user_id: team.member.user_id }).count())[0],
    decisions: (
      await db()('audit_entries').where({ entity_id: plan.action_id }).whereIn('action', ['confirm', 'reject']).count()
    )[0],
  });
  const before = await marks();
  const wrong = { plan_hash: `sha256:${'0'.repeat(64)}` };
  const refused = Array.from({ length: 20 }, (_, nth) => [
    decide(member, nth % 2 ? wrong : { action_indexes: [7] }),
    decide(app.as(team.admin)),
    member.post(`/api/ai-workspace/sessions/${session_id}/stop`, {}),
  ]).flat();
  const answers = codes(await Promise.all(refused));
  expect(new Set(answers)).toEqual(new Set([409, 400, 404, 200]));
  expect(await marks()).toEqual(before);

  expect((await decide(member, { confirmed: false })).status).toBe(200);
  const decided = await marks();
  expect(decided.outbox).toHaveLength(before.outbox.length + 1);
  const late = Array.from({ length: 20 }, (_, nth) => decide(member, { confirmed: nth % 2 === 0 }));
  expect(codes(await Promise.all(late)).every((code) => code === 409)).toBe(true);
  expect(await marks()).toEqual(decided);
});

it('nobody below an admin of the team changes or reads what its agent may do', async () => {
  const path = `/api/ai-workspace/settings?team_id=${team.team_id}`;
  const strangers = await buildTeam(app);
  const settings = { ci_triage: { enabled: true }, external_model: { enabled: true }, monthly_message_quota: 0 };
  const callers = [team.manager, team.member, team.guest, strangers.admin].map((person) => app.as(person));
  const answers = await Promise.all(callers.flatMap((client) => [client.put(path, settings), client.get(path)]));
  expect(new Set(codes(answers))).toEqual(new Set([403]));
  expect(await db()('agent_settings').where({ team_id: team.team_id })).toEqual([]);
});

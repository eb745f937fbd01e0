import type { Actor } from '../../../api/platform/access/actor.js';
import { answerByRules } from '../../../api/agent/turns/answer-by-rules.js';
import { submitMessage } from '../../../api/agent/turns/submit-message.js';
import { buildSession, buildContext } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, buildToken } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';

// A token that talks to the agent is a machine as well.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('a token does not confirm what it asked the agent for; its owner does', async () => {
  const db = app.services.db;
  const row = { process: 'worker:test', seen_at: new Date(Date.now() + 600_000), details: JSON.stringify({ temporal: true }) };
  await db('heartbeats').insert(row).onConflict('process').merge();
  const team = await buildTeam(app);
  const { task_id } = await buildTask(app, team, await buildProject(app, team), { title: 'Login 500' });
  const secret = await buildToken(app, team.member, ['ai:chat', 'ai:confirm']);
  const { token_id } = await db('personal_access_tokens').where({ user_id: team.member.user_id }).first();
  const { session_id } = await buildSession(app, team.member);
  await app.as(secret).post(`/api/ai-workspace/sessions/${session_id}/link`, { item_type: 'task', item_id: task_id });
  const { user_id: userId, email } = team.member;
  const actor: Actor = { type: 'pat', userId, email, role: 'user', tokenId: token_id, scopes: [], strict: false, mcpOnly: false };
  const sent = await submitMessage({ ...buildContext(app, team.member), actor }, { session_id, message: 'close it' });
  await answerByRules(app.services, { messageId: sent.message_id, incarnation: 1, execution: 'first' });
  const { action_id } = await db('agent_plans').where({ session_id }).first();
  const confirm = (by: Parameters<TestApp['as']>[0]) =>
    app.as(by).post('/api/ai-workspace/agent/confirm', { session_id, action_id });
  expect(await confirm(secret)).toMatchObject({ status: 403, body: { message: 'A token cannot confirm what it has proposed' } });
  expect((await confirm(team.member)).status).toBe(200);
});

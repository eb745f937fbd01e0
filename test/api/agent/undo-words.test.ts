/** “Undo that” in a conversation, and what a project is like, on PostgreSQL. */
import type { Actor } from '../../../api/platform/access/actor.js';
import { buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { pretendWorker, talk } from './talk.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let taskId: string;
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp();
  await pretendWorker(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbor' });
  taskId = (await buildTask(app, team, project, { title: 'Order the wheels', due_date: '2020-01-01' })).task_id;
});

const begin = () => talk(app, team.member, { item_type: 'project', item_id: project.project_id });
const confirmNewest = async (session_id: string) => {
  const plan = await db()('agent_plans').where({ session_id }).orderBy('staged_at', 'desc').first();
  const body = { session_id, action_id: plan.action_id, confirmed: true };
  expect((await app.as(team.member).post('/api/ai-workspace/agent/confirm', body)).status).toBe(200);
  return plan.action_id as string;
};
const status = async () => (await db()('tasks').where({ task_id: taskId }).first()).status;

it('stages the reverse of the plan that was confirmed last, and changes nothing by itself', async () => {
  const say = await begin();
  expect((await say('undo that')).content).toContain('No plan of this session was confirmed');
  await say('close the wheels');
  expect((await say('undo that')).content).toContain('No plan of this session was confirmed');
  const applied = await confirmNewest(say.session_id);
  expect(await status()).toBe('done');
  const undo = await say('undo that');
  expect(undo.actions).toMatchObject([{ tool: 'task.set_status', entity_id: taskId, params: { status: 'todo' } }]);
  expect(undo.content).toContain('Nothing changes until you confirm.');
  expect(await status()).toBe('done');
  const again = await say('undo that');
  expect(again).toMatchObject({ actions: [], content: expect.stringContaining('exists already') });
  expect(await confirmNewest(say.session_id)).not.toBe(applied);
  expect(await status()).toBe('todo');
});

it('takes back nothing of another session, and nothing for a token that may only write messages', async () => {
  const first = await begin();
  await first('close the wheels');
  await confirmNewest(first.session_id);
  expect((await (await begin())('undo that')).content).toContain('No plan of this session was confirmed');
  await buildToken(app, team.member, ['ai:chat', 'tasks:read']);
  const { token_id: tokenId } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first();
  const { user_id: userId, email } = team.member;
  const actor = {
    type: 'pat',
    userId,
    email,
    role: 'user',
    tokenId,
    scopes: ['ai:chat', 'tasks:read'],
    strict: false,
    mcpOnly: false,
  } as Actor;
  expect(await first('undo that', actor)).toMatchObject({
    actions: [],
    content: expect.stringContaining('A token cannot take back'),
  });
});

/** A session without links whose message names a task by its number, on PostgreSQL: what is linked with it, and what is only offered. */
import type { Actor } from '../../../api/platform/access/actor.js';
import { submitMessage } from '../../../api/agent/turns/submit-message.js';
import { withdrawMessage } from '../../../api/agent/turns/withdraw-message.js';
import { buildContext, buildSession } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { pretendWorker, type Said, talk } from './talk.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let id: string;
let name: string;
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp();
  await pretendWorker(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbor' });
  [id, name] = await addTask('Order the wheels');
});

/** A task, by its id and by what people call it. */
async function addTask(title: string, of = { team, project }): Promise<[string, string]> {
  const { task_id } = await buildTask(app, of.team, of.project, { title });
  const row = await db()('tasks').join('teams', 'teams.team_id', 'tasks.team_id').where({ task_id }).first();
  return [task_id, `${row.key}-${row.number}`];
}
const linksOf = (session_id: string) => db()('agent_links').where({ session_id }).orderBy('linked_at').pluck('item_id');
const offered = ({ mentions }: Said) => mentions.flatMap(({ item_id, to_link }) => (to_link ? [item_id] : [])).toSorted();

it('links the task, says so, and proposes the change; the person links it, and the team pays', async () => {
  const say = await talk(app, team.member);
  const { content, actions, mentions } = await say(`close ${name.toLowerCase()}`);
  expect(content).toMatch(new RegExp(`^Linked ${name} “Order the wheels”, which you named\\.\n\nI propose `));
  expect(actions).toMatchObject([{ tool: 'task.set_status', entity_id: id, params: { status: 'done' } }]);
  expect(mentions[0]).toEqual({ item_id: id, title: 'Order the wheels' });
  expect(await linksOf(say.session_id)).toEqual([id]);
  const audit = { action: 'link', entity_id: say.session_id };
  expect(await db()('audit_entries').where(audit).first()).toMatchObject({ actor_type: 'user', user_id: team.member.user_id });
  expect(await db()('agent_usage').where({ team_id: team.team_id }).first()).toMatchObject({ messages: 1 });
  const next = await say('assign it to me');
  expect([next.content.includes('Linked'), next.actions]).toMatchObject([
    false,
    [{ tool: 'task.set_status' }, { tool: 'task.assign', entity_id: id }],
  ]);
});

it('links the task of a question too, so that “it” means it afterwards', async () => {
  const say = await talk(app, team.member);
  const { content, actions } = await say(`when is ${name} due?`);
  expect([content.startsWith(`Linked ${name} `), actions]).toEqual([true, []]);
  expect((await say('close it')).actions).toMatchObject([{ entity_id: id }]);
});

it('links none of several, and offers them', async () => {
  const [second, other] = await addTask('Paint the arm');
  const say = await talk(app, team.member);
  expect(offered(await say(`close ${name} and ${other}`))).toEqual([id, second].toSorted());
  expect(await linksOf(say.session_id)).toEqual([]);
});

it('changes a task by its number beside others that are linked, without a link; the words of its title still need one', async () => {
  const office = { team, project: await buildProject(app, team, { name: 'Office' }) };
  const [second, other] = await addTask('Paint the arm', office);
  const [third, another] = await addTask('Call the port', office);
  const say = await talk(app, team.member, id);
  expect(offered(await say('close the port'))).toEqual([third]);
  const { actions, content } = await say(`mark ${other} as done`);
  expect(actions).toMatchObject([{ tool: 'task.set_status', entity_id: second, params: { status: 'done' } }]);
  expect(content).toContain(`“${other}” is the task “Paint the arm” in “Office” (${other}), which is not linked.`);
  expect((await say('assign it to me')).actions).toMatchObject([
    { entity_id: second },
    { tool: 'task.assign', entity_id: second },
  ]);
  expect((await say(`close ${another} and ${name}`)).actions.map(({ entity_id }) => String(entity_id)).toSorted()).toEqual(
    [third, id].toSorted(),
  );
  expect(await linksOf(say.session_id)).toEqual([id]);
});

it('changes no task by its number that the person may not write', async () => {
  const stranger = await buildTeam(app);
  const [, theirs] = await addTask('Secret', { team: stranger, project: await buildProject(app, stranger) });
  await db()('teams').where({ team_id: stranger.team_id }).update({ key: 'ZZY' });
  const say = await talk(app, team.member, id);
  expect(await say(`close ${theirs.replace(/^\w+/, 'ZZY')}`)).toMatchObject({ actions: [], mentions: [] });
});

it('links nothing where something was linked', async () => {
  const [, other] = await addTask('Paint the arm', { team, project: await buildProject(app, team, { name: 'Office' }) });
  const say = await talk(app, team.member, id);
  await app.as(team.member).delete(`/api/tasks/${id}`);
  expect(await say(`close ${other}`)).toMatchObject({ actions: [], content: expect.stringContaining('no longer available') });
  expect(await linksOf(say.session_id)).toEqual([id]);
});

it.each([
  'close https://example.org/NAME',
  'close xNAME',
  'close NAME-b',
  'close NAME.5',
  'close user@NAME',
  'close the wheels',
  'hello',
])('reads no name in “%s”', async (message) => {
  const say = await talk(app, team.member);
  expect((await say(message.replace('NAME', name))).actions).toEqual([]);
  expect(await linksOf(say.session_id)).toEqual([]);
});

it('finds no task of another team, of the trash or the archive, and none for a guest', async () => {
  const stranger = await buildTeam(app);
  const [, theirs] = await addTask('Secret', { team: stranger, project: await buildProject(app, stranger) });
  await db()('teams').where({ team_id: stranger.team_id }).update({ key: 'ZZZ' });
  const [trashed, old] = await addTask('Old');
  const [stored, archived] = await addTask('Stored');
  await app.as(team.member).delete(`/api/tasks/${trashed}`);
  await app.as(team.member).patch(`/api/tasks/${stored}`, { is_archived: true });
  const say = await talk(app, team.member);
  for (const each of [theirs.replace(/^\w+/, 'ZZZ'), old, archived])
    expect(await say(`close ${each}`)).toMatchObject({ actions: [], mentions: [] });
  const asGuest = await talk(app, team.guest);
  expect(await asGuest(`close ${name}`)).toMatchObject({ actions: [], mentions: [] });
  expect([...(await linksOf(say.session_id)), ...(await linksOf(asGuest.session_id))]).toEqual([]);
});

it('asks for a link where two teams of the person have the number', async () => {
  const second = await buildTeam(app);
  await db()('memberships').insert({ team_id: second.team_id, user_id: team.member.user_id, role: 'member' });
  await addTask('Other wheels', { team: second, project: await buildProject(app, second) });
  await db()('teams')
    .where({ team_id: second.team_id })
    .update({ key: name.split('-')[0] });
  const say = await talk(app, team.member);
  expect(await say(`close ${name}`)).toMatchObject({ actions: [], content: expect.stringContaining('No item is linked') });
  expect(await linksOf(say.session_id)).toEqual([]);
});

it('a token links a task by its number only if it may read tasks', async () => {
  await buildToken(app, team.member, ['ai:chat']);
  const { token_id: tokenId } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first();
  const { user_id: userId, email } = team.member;
  const actor: Actor = { type: 'pat', userId, email, role: 'user', tokenId, scopes: ['ai:chat'], strict: false, mcpOnly: false };
  const say = await talk(app, team.member);
  expect(await say(`close ${name}`, actor)).toMatchObject({ actions: [], mentions: [] });
  const scopes = ['ai:chat', 'tasks:read'];
  await db()('personal_access_tokens').where({ token_id: tokenId }).update({ scopes });
  expect((await say(`close ${name}`, actor)).actions).toMatchObject([{ entity_id: id }]);
});

it('links nothing by itself where a model is set: what that may read, a person links', async () => {
  const { session_id } = await buildSession(app, team.member);
  const ctx = buildContext(app, team.member);
  const withModel = { ...ctx, config: { ...ctx.config, AI_PROVIDER: 'anthropic' as const } };
  await submitMessage(withModel, { session_id, message: `close ${name}` });
  expect(await linksOf(session_id)).toEqual([]);
});

it('leaves no link of a message that is refused, or withdrawn', async () => {
  const { session_id } = await buildSession(app, team.member);
  const ctx = buildContext(app, team.member);
  await db()('agent_settings').insert({ team_id: team.team_id, monthly_message_quota: 1 });
  const message = await submitMessage(ctx, { session_id, message: `close ${name}` });
  expect(await linksOf(session_id)).toEqual([id]);
  expect(await withdrawMessage(ctx, message)).toBe(true);
  expect(await linksOf(session_id)).toEqual([]);
  await db()('agent_settings').where({ team_id: team.team_id }).update({ monthly_message_quota: 0 });
  await expect(submitMessage(ctx, { session_id, message: `close ${name}` })).rejects.toThrow('has used its 0 messages');
  expect(await linksOf(session_id)).toEqual([]);
});

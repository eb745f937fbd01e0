/** Tasks that are not linked, on PostgreSQL: which ones a sentence finds, and that a plan changes only those of a linked project. */
import type { Actor } from '../../../api/platform/access/actor.js';
import { drainMarks } from '../../../api/work/search/index-marks.js';
import { buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { linkOffered, pretendWorker, type Said, talk } from './talk.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let linked: { item_type: string; item_id: string };
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp();
  await pretendWorker(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbor' });
  linked = { item_type: 'project', item_id: project.project_id };
});

const addTask = async (title: string, fields: Record<string, unknown> = {}, of = { team, project }): Promise<string> =>
  (await buildTask(app, of.team, of.project, { title, ...fields })).task_id;
/** What an answer asks to link; it never proposes anything too. */
const offered = ({ mentions, actions }: Said): string[] => {
  expect(actions).toEqual([]);
  return mentions.flatMap(({ item_id, to_link }) => (to_link === undefined ? [] : item_id)).toSorted();
};
/** What a plan changes; its answer asks for no link. */
const planned = ({ mentions, actions }: Said): string[] => {
  expect(mentions.filter(({ to_link }) => to_link !== undefined)).toEqual([]);
  return [...new Set(actions.map(({ entity_id }) => String(entity_id)))].toSorted();
};
const index = (): Promise<unknown> => drainMarks(db(), [team.team_id], { maxMarks: 10_000, maxMs: 10_000, lockTimeoutMs: 1_000 });

it.each(['indexed', 'not indexed yet'])('finds a task of a linked project by its words, %s', async (state) => {
  const id = await addTask('Publish the new website');
  await addTask('Paint the fence');
  if (state === 'indexed') await index();
  const say = await talk(app, team.member, linked);
  const answer = await say('the website is done');
  expect(answer.actions).toMatchObject([{ tool: 'task.set_status', entity_id: id, title: 'Publish the new website' }]);
  expect(planned(await say('assign it to me'))).toEqual([id]);
  // What was moved elsewhere is no longer covered by the link.
  const other = await buildProject(app, team, { name: 'Office' });
  await app.as(team.member).patch(`/api/tasks/${id}`, { project_id: other.project_id });
  expect(offered(await say('the website is done'))).toEqual([id]);
});

it('asks to link a task of another project, and says which one it is', async () => {
  const id = await addTask('Publish the new website', {}, { team, project: await buildProject(app, team, { name: 'Office' }) });
  const say = await talk(app, team.member, linked);
  const answer = await say('the website is done');
  expect(answer.mentions).toEqual([{ item_id: id, title: 'Publish the new website', to_link: 'task' }]);
  expect(answer).toMatchObject({ actions: [], content: expect.stringContaining('Nothing was staged.') });
  expect(answer.content).toMatch(/the task “Publish the new website” in “Office” \([A-Z]+-1\), which is not linked\./);
  expect(answer.content).not.toContain(id);
  expect(offered(await say('assign it to me'))).toEqual([id]);
  await linkOffered(app, team.member, say.session_id, answer);
  const { actions } = await say('the website is done');
  expect(actions).toMatchObject([{ tool: 'task.set_status', entity_id: id, title: 'Publish the new website' }]);
});

it.each([
  ["create tasks 'A', 'B' and 'C' in Harbour", 3],
  ['create a task fix the roof in Harbour', 1],
  ['move all urgent tasks of Harbour to Friday', 1],
  ['move all urgent tasks of the project harbour to friday', 1],
])('the project that a message names comes before the one that is linked: %s', async (message, count) => {
  const harbour = await buildProject(app, team, { name: 'Harbour' });
  const urgent = await addTask('Mend the net', { priority: 'urgent' }, { team, project: harbour });
  await addTask('Sweep the office', { priority: 'urgent' });
  const say = await talk(app, team.member, linked);
  const answer = await say(message);
  expect(offered(answer)).toEqual([harbour.project_id]);
  expect(answer.content).toContain('“Harbour”, which is not linked');
  await linkOffered(app, team.member, say.session_id, answer);
  // Without any link the message links it: nobody could say more exactly what it is about.
  const alone = await (await talk(app, team.member))(message);
  expect(alone.content).toMatch(/^Linked the project “Harbour”, which you named\.\n\nI propose /);
  for (const { actions } of [await say(message), alone]) {
    expect(actions).toHaveLength(count);
    for (const { entity_id, params } of actions)
      expect(entity_id === urgent || params['project_id'] === harbour.project_id).toBe(true);
  }
});

it('a message asks for the titles of several tasks, in the project that it names', async () => {
  await buildProject(app, team, { name: 'Harbour' });
  const { content, actions } = await (await talk(app, team.member))('create three tasks for a launch checklist in Harbour');
  expect(actions).toEqual([]);
  expect(content).toContain("Which tasks? Write their titles: “create tasks 'A', 'B' and 'C' in Harbour”.");
});

it.each(['what is overdue in Friday?', 'show what is due in Harbour', 'move everything to Friday', 'put it into review'])(
  'links no project by “%s”',
  async (message) => {
    for (const name of ['Friday', 'Review', 'Harbour']) await buildProject(app, team, { name });
    const say = await talk(app, team.member);
    await say(message);
    expect(await db()('agent_links').where({ session_id: say.session_id })).toEqual([]);
  },
);

it('names no project of another team, of the trash, or of which there are two', async () => {
  const stranger = await buildTeam(app);
  await buildProject(app, stranger, { name: 'Harbour' });
  const say = await talk(app, team.member, linked);
  expect(offered(await say('move all urgent tasks of Harbour to Friday'))).toEqual([]);
  const gone = await buildProject(app, team, { name: 'Harbour' });
  await app.as(team.admin).delete(`/api/projects/${gone.project_id}`);
  expect(offered(await say('move all urgent tasks of Harbour to Friday'))).toEqual([]);
  for (const _time of [1, 2]) await buildProject(app, team, { name: 'Harbour' });
  expect(offered(await say('move all urgent tasks of Harbour to Friday'))).toEqual([]);
});

it('looks beyond the linked project only if nothing in it fits, and asks which of several', async () => {
  const other = { team, project: await buildProject(app, team, { name: 'Office' }) };
  const near = await addTask('Order the wheels');
  const far = await addTask('Order the paint', {}, other);
  const [left, right] = [await addTask('Left crane', {}, other), await addTask('Right crane', {}, other)];
  await addTask('Wheels of the old truck', {}, other);
  await index();
  const say = await talk(app, team.member, linked);
  expect(planned(await say('close the wheels'))).toEqual([near]);
  expect(offered(await say('close the paint'))).toEqual([far]);
  expect(offered(await say(`close ${far}`))).toEqual([far]);
  const asked = await say('close the crane');
  expect(asked.actions).toEqual([]);
  expect(asked.content).toMatch(/^Which one do you mean by “the crane”/);
  expect(asked.mentions.map(({ item_id }) => item_id).toSorted()).toEqual([left, right].toSorted());
  expect(offered(await say('close the left crane and give it to me'))).toEqual([left]);
  expect(offered(await say('unblock the left crane'))).toEqual([left]);
  expect((await say('close the submarine')).content).toContain('No linked item, and no task of the team, is called “submarine”');
});

it('finds tasks of a linked project by their tag, and one by its number', async () => {
  const [checkout, pages] = [
    await addTask('Redesign the checkout', { tags: ['web'] }),
    await addTask('Speed it up', { tags: ['Web'] }),
  ];
  const other = await addTask('Paint the fence', { tags: ['website'] });
  const far = { team, project: await buildProject(app, team, { name: 'Office' }) };
  const desk = await addTask('Order a desk', {}, far);
  const say = await talk(app, team.member, linked);
  const answer = await say('set all web tasks to urgent');
  expect(planned(answer)).toEqual([checkout, pages].toSorted());
  expect(answer.actions.map(({ params }) => params['priority'])).toEqual(['urgent', 'urgent']);
  const { key, number } = await db()('tasks').join('teams', 'teams.team_id', 'tasks.team_id').where({ task_id: desk }).first();
  expect((await say(`close ${key.toLowerCase()}-${number}`)).actions).toMatchObject([{ entity_id: desk }]);
  expect((await say('which web tasks are open?')).mentions.map(({ item_id }) => item_id).toSorted()).toEqual(
    [checkout, pages].toSorted(),
  );
  expect((await say('and that one too')).content).not.toContain(other);
});

it('asks which tasks are meant where a tag and a project have the same name', async () => {
  const office = { team, project: await buildProject(app, team, { name: 'Office' }) };
  const ids = [await addTask('Order a desk', {}, office), await addTask('Paint the crane', { tags: ['office'] })];
  const say = await talk(app, team.member, ...ids);
  const asked = await say('set all office tasks to high');
  expect(asked.actions).toEqual([]);
  expect(asked.content).toContain('may be 1 tagged with it or 1 of a project of that name');
  expect((await say('set everything in the project Office to high')).actions).toMatchObject([{ entity_id: ids[0] }]);
  expect((await say('set everything tagged office to high')).actions).toMatchObject([{ entity_id: ids[1] }]);
  expect((await say('how many tasks in the Office project are open?')).content).toContain('1 task:');
});

it('finds no number of another team', async () => {
  const stranger = await buildTeam(app);
  const theirs = await addTask('Secret submarine', {}, { team: stranger, project: await buildProject(app, stranger) });
  const { number } = await db()('tasks').where({ task_id: theirs }).first();
  await db()('teams').where({ team_id: stranger.team_id }).update({ key: 'ZZZ' });
  const say = await talk(app, team.member, linked);
  const answer = await say(`close ZZZ-${number}`);
  expect(answer.mentions).toEqual([]);
  expect(answer.content).toContain(`is called “ZZZ-${number}”`);
});

it('finds no task of another team, although the person is in it, and none in the trash or the archive', async () => {
  const stranger = await buildTeam(app);
  const second = await buildTeam(app);
  await db()('memberships').insert({ team_id: second.team_id, user_id: team.member.user_id, role: 'member' });
  await addTask('Secret submarine', {}, { team: stranger, project: await buildProject(app, stranger) });
  await addTask('Other submarine', {}, { team: second, project: await buildProject(app, second) });
  const trashed = await addTask('Old submarine');
  const stored = await addTask('Stored submarine');
  await app.as(team.member).patch(`/api/tasks/${stored}`, { is_archived: true });
  await app.as(team.member).delete(`/api/tasks/${trashed}`);
  const say = await talk(app, team.member, linked);
  for (const message of ['close the submarine', `close ${trashed}`])
    expect(await say(message)).toMatchObject({ actions: [], mentions: [] });
});

it('finds nothing once the person is a guest, and nothing for a token that may not read tasks', async () => {
  await addTask('Renew the insurance');
  const say = await talk(app, team.member, linked);
  await buildToken(app, team.member, ['ai:chat']);
  const { token_id: tokenId } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first();
  const { user_id: userId, email } = team.member;
  const actor: Actor = { type: 'pat', userId, email, role: 'user', tokenId, scopes: ['ai:chat'], strict: false, mcpOnly: false };
  expect((await say('close the insurance', actor)).content).toContain('No linked item is called “insurance”');
  expect((await say('close all tasks', actor)).content).toContain('No task is linked');
  expect(planned(await say('close the insurance'))).toHaveLength(1);
  await db()('memberships').where({ user_id: userId }).update({ role: 'guest' });
  expect(await say('close the insurance')).toMatchObject({ actions: [], content: expect.stringContaining('No item is linked') });
});

it('means linked tasks by “all”; without any those of the linked projects', async () => {
  const [first, second] = [await addTask('One', { priority: 'high' }), await addTask('Two')];
  const third = await addTask('Three', {}, { team, project: await buildProject(app, team) });
  const both = await talk(app, team.member, linked, third);
  expect((await both('close all tasks')).actions).toMatchObject([{ entity_id: third }]);
  const say = await talk(app, team.member, linked);
  expect(planned(await say('close all high priority tasks'))).toEqual([first]);
  expect(planned(await say('close all tasks'))).toEqual([first, second].toSorted());
});

it('takes “everything” of an absent member as their open tasks, and says so', async () => {
  const of = (person: { user_id: string }) => ({ assigned_to: person.user_id });
  const open = await addTask('One', of(team.manager));
  await addTask('Two', of(team.admin));
  await addTask('Three', { ...of(team.manager), status: 'done' });
  await db()('users').where({ user_id: team.manager.user_id }).update({ display_name: 'Uma' });
  const say = await talk(app, team.member, linked);
  const { content, actions } = await say('Uma is ill, give everything to me');
  expect(actions).toMatchObject([{ tool: 'task.assign', entity_id: open }]);
  expect(content).toContain('I take “everything” as the open tasks of Uma.');
});

it('asks where more tasks have the words than it reads, and never takes one of them', async () => {
  const fill = (count: number): Promise<unknown> =>
    db().raw(
      `with made as (insert into item_keys select uuidv7()::text, 'task' from generate_series(1, ?::int) returning item_id)
       , tasks as (insert into tasks (task_id, project_id, team_id, title, created_by)
         select item_id, ?, ?, 'Part of the machine', ? from made returning task_id)
       insert into search_dirty (team_id, item_id) select ?, task_id from tasks`,
      [count, project.project_id, team.team_id, team.member.user_id, team.team_id],
    );
  await fill(600);
  const say = await talk(app, team.member, { item_type: 'task', item_id: await addTask('Something else') });
  expect((await say('close the machine')).content).toContain('I could not look through all tasks of the team now');
  await index();
  expect((await say('close the machine')).content).toContain('Too many tasks of the team have words like “machine”');
});

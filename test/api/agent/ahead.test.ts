/** What a project is like, and what a person shall do next, on PostgreSQL. */
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { pretendWorker, talk } from './talk.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
const db = () => app.services.db;
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

beforeAll(async () => {
  app = await startApp();
  await pretendWorker(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Harbor' });
});

const addTask = async (title: string, fields: Record<string, unknown> = {}, of = { team, project }): Promise<string> =>
  (await buildTask(app, of.team, of.project, { title, ...fields })).task_id as string;
const addMine = (title: string, fields: Record<string, unknown> = {}) =>
  addTask(title, { assigned_to: team.member.user_id, ...fields });
const begin = () => talk(app, team.member, { item_type: 'project', item_id: project.project_id });
/** The titles that an answer names, in its order. */
const titlesIn = (content: string): string[] => [...content.matchAll(/^- “([^”]+)”/gm)].map(([, title]) => title as string);

/** The changes that a recap shows, one a line. */
const titlesOfChanges = (content: string): string[] => content.split('\n').filter((line) => /^- \w{3},? .*: “/.test(line));

describe('a project', () => {
  it('tells how far it is, and what happened in the last days', async () => {
    const wheels = await addTask('Order the wheels', { due_date: '2020-01-01' });
    await addTask('Paint the arm', { status: 'done' });
    await addTask('Check the rope', { status: 'in_review' });
    const old = await addTask('Old', { status: 'done' });
    await db()('tasks').where({ task_id: old }).update({ created_at: '2020-01-01', completed_at: '2020-01-02' });
    const canceled = await addTask('Canceled');
    await app.as(team.member).patch(`/api/tasks/${canceled}`, { status: 'done', resolution: 'canceled' });
    await app.as(team.member).patch(`/api/tasks/${wheels}`, { priority: 'high' });
    await app.as(team.member).delete(`/api/tasks/${await addTask('Trashed')}`);
    const { content, mentions } = await (await begin())('what is the status of Harbor?');
    expect(content).toContain('- project “Harbor”: active\n- 2 open tasks, 1 of them overdue, 1 in review; 2 done\n- from ');
    expect(content).toContain(': 4 created, 1 done, 1 canceled or closed as a duplicate\n');
    expect(content).toMatch(/changed priority from medium to high: “Order the wheels”/);
    expect(mentions.map(({ item_id }) => item_id)).toContain(project.project_id);
  });

  it('tells what happened in the time that was asked for', async () => {
    const old = await addTask('Old', { status: 'done' });
    await db()('tasks').where({ task_id: old }).update({ created_at: '2020-01-01', completed_at: '2020-01-02' });
    await addTask('New');
    const say = await begin();
    expect((await say('summarise what happened in Harbor today')).content).toMatch(/\n- on .*: 1 created, 0 done\n/);
    expect((await say('what did I do in Harbor today?')).content).not.toContain('created, ');
    for (let n = 0; n < 10; n += 1) await addTask(`Part ${n}`);
    expect((await say('recap Harbor')).content).toMatch(/\n- and \d+ more$/);
    expect(titlesOfChanges((await say('recap Harbor')).content)).toHaveLength(10);
  });

  it('is not counted where it has more than ten thousand tasks', async () => {
    await db().raw(
      `with made as (insert into item_keys select uuidv7()::text, 'task' from generate_series(1, 10001) returning item_id)
       insert into tasks (task_id, project_id, team_id, title, created_by) select item_id, ?, ?, 'Many', ? from made`,
      [project.project_id, team.team_id, team.member.user_id],
    );
    expect((await (await begin())('summarize Harbor')).content).toContain('- more than 10,000 tasks, which I do not count\n');
  });
});

describe('what comes next', () => {
  it('is what is late, due, begun and urgent, in this order; what is blocked waits', async () => {
    await addMine('Someday');
    await addMine('Urgent', { priority: 'urgent' });
    await addMine('Begun', { status: 'in_progress' });
    await addMine('Today', { due_date: day(0) });
    const late = await addMine('Late', { due_date: day(-3) });
    await addMine('Done', { status: 'done', due_date: day(-3) });
    await addTask('Of nobody', { due_date: day(-9) });
    const stuck = await addMine('Stuck', { due_date: day(-5), priority: 'urgent' });
    const edge = { source_id: await addTask('First'), target_id: stuck, relation_type: 'blocks' };
    expect((await app.as(team.member).post('/api/work-items/relations', edge)).status).toBe(201);
    const say = await begin();
    const next = await say('what should I do next?');
    expect(titlesIn(next.content)).toEqual(['Late', 'Today', 'Begun', 'Urgent', 'Someday']);
    expect(next.content).toMatch(/^Begin with:\n- “Late”.*\n\nAfter that:\n/);
    expect(next.content).toContain('1 more task of yours is open. Late tasks come first');
    expect(next.mentions[0]).toEqual({ item_id: late, title: 'Late' });
    expect(titlesIn((await say('plan my day')).content)).toEqual(['Late', 'Today', 'Begun']);
    expect(titlesIn((await say('plan my week')).content)).toEqual(['Late', 'Today', 'Begun', 'Urgent', 'Someday']);
  });

  it('is a task of high priority for tomorrow before an urgent one for the week after next, as the answer says', async () => {
    await addMine('Later', { priority: 'urgent', due_date: day(14) });
    await addMine('Tomorrow', { priority: 'high', due_date: day(1) });
    await addMine('In three days', { due_date: day(3) });
    await addMine('In four days', { due_date: day(4) });
    const { content } = await (await begin())('what should I do next?');
    expect(titlesIn(content)).toEqual(['Tomorrow', 'In three days', 'Later', 'In four days']);
    expect(content).toContain('those due within 3 days, and then the most urgent; blocked ones come last.');
  });

  it('is told of another member as of the asker', async () => {
    await addMine('Late', { due_date: day(-3) });
    await addMine('Someday');
    await db()('users').where({ user_id: team.member.user_id }).update({ display_name: 'Uma Patel', name: 'Uma Patel' });
    await db()('users').where({ user_id: team.guest.user_id }).update({ display_name: 'Bo Lind', name: 'Bo Lind' });
    const say = await begin();
    const next = await say('what should Uma do next?');
    expect(next.content).toMatch(/^First for Uma Patel:\n- “Late”.*\n\nAfter that:\n- “Someday”/);
    expect((await say('what is next for Bo?')).content).toBe('No open task is assigned to Bo Lind.');
  });

  it('is nothing where nothing is open, and never a task of another team', async () => {
    const stranger = await buildTeam(app);
    const theirs = { team: stranger, project: await buildProject(app, stranger) };
    const foreign = await addTask('Foreign', {}, theirs);
    await db()('tasks').where({ task_id: foreign }).update({ assigned_to: team.member.user_id });
    expect((await (await talk(app, team.member))('plan my day')).content).toBe('No open task is assigned to you.');
  });

  it('says how many tasks of each member are late', async () => {
    await addMine('Late', { due_date: day(-3) });
    await addMine('Other');
    expect((await (await begin())('who is overloaded?')).content).toMatch(
      /^Open tasks:\n- .*: 2, 1 of them overdue\n\nMembers who are not listed have none\.$/,
    );
  });
});

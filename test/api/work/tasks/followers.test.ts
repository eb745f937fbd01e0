import { writeNotices } from '../../../../api/work/notifications/write-notices.js';
import { buildPerson, buildProject, buildTask, buildTeam, leave, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Browser, givePasswords, signIn } from '../../web/browser.js';

// Who hears of a task.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let id: string;
beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  // Of the team's admin, for the manager.
  const made = await app.as(team.admin).post('/api/tasks', { ...project, title: 'Crane', assigned_to: team.manager.user_id });
  id = made.body.task_id;
  await told(team.manager);
});

const db = () => app.services.db;
const path = () => `/api/tasks/${id}/followers`;
const follow = (person: Person, follows = true) => app.as(person).put(`${path()}/me`, { follows });
const comment = (person: Person, content: string, fields: object = {}) =>
  app.as(person).post(`/api/tasks/${id}/comments`, { content, ...fields });
const change = async (person: Person, fields: object) => {
  expect((await app.as(person).patch(`/api/tasks/${id}`, fields)).status).toBe(200);
};
const nameOf = async ({ user_id }: Person): Promise<string> => (await db()('users').where({ user_id }).first()).display_name;
/** What somebody was told since the last time, oldest first, without who did it. */
async function told(person: Person): Promise<string[]> {
  while ((await writeNotices(app.services)) > 0);
  const { body } = await app.as(person).get('/api/notifications?unread=true');
  await app.as(person).post('/api/notifications/read', {});
  return (body as { message: string }[]).map(({ message }) => message.replace(/^.*? (?=[a-z]+ .*“)/, '')).reverse();
}
const followers = async (person: Person) => {
  const { body } = await app.as(person).get(path());
  return [body.follows, body.followers.map(({ user_id }: Person) => user_id).toSorted()] as const;
};

it('creator and assignee follow it, others once they say so or comment, and each may choose otherwise', async () => {
  const { admin, manager, member, guest } = team;
  const ids = (...people: Person[]) => people.map(({ user_id }) => user_id).toSorted();
  expect(await followers(member)).toEqual([false, ids(admin, manager)]);
  expect((await follow(guest)).body).toMatchObject({ follows: true });
  await comment(member, `Look, @${await nameOf(guest)}`);
  expect(await followers(member)).toEqual([true, ids(admin, manager, member, guest)]);
  const edited = await comment(member, 'Look');
  await app.as(member).patch(`/api/comments/${edited.body.comment_id}`, { content: `Look, @${await nameOf(admin)}` });
  for (const person of [admin, member, guest]) expect((await follow(person, false)).body.follows).toBe(false);
  // What one has chosen stays, whatever happens.
  await comment(member, `Again, @${await nameOf(guest)}`);
  expect(await followers(guest)).toEqual([false, ids(manager)]);
  expect((await follow(admin)).body).toMatchObject({ follows: true });
  await leave(app, team, manager);
  expect(await followers(admin)).toEqual([true, ids(admin)]);
});

it('those hear of a comment, each once, and its author does not', async () => {
  const { admin, manager, member, guest } = team;
  await Promise.all([follow(guest), follow(manager, false)]);
  const first = await comment(member, 'First');
  expect([await told(admin), await told(guest), await told(manager), await told(member)]).toEqual([
    ['commented on “Crane”: First'],
    ['commented on “Crane”: First'],
    [],
    [],
  ]);
  await comment(admin, 'Second');
  expect([await told(admin), await told(member)]).toEqual([[], ['commented on “Crane”: Second']]);
  // A mention is told in any case, an answer only to who has not unfollowed.
  await follow(member, false);
  await comment(admin, `@${await nameOf(manager)}`, { parent_comment_id: first.body.comment_id });
  expect([(await told(manager)).length, await told(member)]).toEqual([1, []]);
});

it('and of its end and of its return, as it is when that is told', async () => {
  const { admin, manager, member, guest } = team;
  await follow(guest);
  await change(member, { status: 'in_progress' });
  expect(await told(guest)).toEqual([]);
  await change(member, { status: 'done' });
  expect([await told(admin), await told(manager), await told(guest), await told(member)]).toEqual([
    ['completed “Crane”'],
    ['completed “Crane”'],
    ['completed “Crane”'],
    [],
  ]);
  expect((await app.as(guest).get('/api/notifications')).body[0]).toMatchObject({
    kind: 'status_changed',
    item_id: id,
    triggered_by: member.user_id,
  });
  await change(manager, { status: 'todo' });
  expect([await told(guest), await told(manager)]).toEqual([['reopened “Crane”'], []]);
  for (const [resolution, said] of [
    ['canceled', 'canceled “Crane”'],
    ['duplicate', 'closed “Crane” as a duplicate'],
  ]) {
    await change(member, { status: 'done', resolution });
    await change(member, { status: 'todo' });
    await change(member, { status: 'done', resolution });
    expect(await told(guest)).toEqual([said]);
    await change(member, { status: 'todo' });
    await told(guest);
  }
  await change(member, { status: 'done' });
  await app.as(admin).delete(`/api/tasks/${id}`);
  expect(await told(guest)).toEqual([]);
});

it('closed and reopened all the time leaves no more marks than one change does', async () => {
  for (let n = 0; n < 5; n += 1) for (const status of ['done', 'todo']) await change(team.member, { status });
  expect(await db()('notice_marks').where({ team_id: team.team_id, kind: 'status_changed' })).toHaveLength(2);
  expect(await told(team.admin)).toEqual(['reopened “Crane”']);
});

it('many that one user closes at once are twenty lines', async () => {
  const tasks = Array.from({ length: 30 }, (_, n) => ({ ...project, title: `T${n}` }));
  const made = await app.as(team.admin).post('/api/tasks/bulk', tasks);
  expect(made.status).toBe(200);
  const rows = await db()('tasks').where(project).whereLike('title', 'T%').select('task_id');
  for (const { task_id } of rows) await app.as(team.member).patch(`/api/tasks/${task_id as string}/status`, { status: 'done' });
  await writeNotices(app.services);
  const { body } = await app.as(team.admin).get('/api/notifications?unread=true&limit=50');
  expect([body.length, body.reduce((sum: number, { more }: { more: number }) => sum + more, 0)]).toEqual([20, 10]);
});

it('who comments by an automation or an import does not follow by that', async () => {
  const { member, admin } = team;
  const statement = `insert into comments (task_id, team_id, content, author_id) values (?, ?, 'By a machine', ?)`;
  await db().raw(statement, [id, team.team_id, member.user_id]);
  expect((await followers(member))[0]).toBe(false);
  expect(await told(admin)).toEqual(['commented on “Crane”: By a machine']);
});

it('at most a hundred follow a task, beside its creator and its assignee', async () => {
  const people = await Promise.all(Array.from({ length: 130 }, () => buildPerson(app)));
  await db()('memberships').insert(people.map(({ user_id }) => ({ team_id: team.team_id, user_id, role: 'guest' })));
  // Also those who come at the same time.
  const answers = await Promise.all(people.map((person) => follow(person)));
  const others = people.filter((_person, at) => answers[at]?.status === 200);
  expect(others).toHaveLength(100);
  expect(await follow(team.guest)).toMatchObject({ status: 409, body: { message: 'At most 100 users follow a task' } });
  expect((await follow(others[0] as Person)).status).toBe(200);
  expect((await follow(team.guest, false)).status).toBe(200);
  expect((await comment(team.member, 'No room')).status).toBe(201);
  expect((await followers(team.member))[0]).toBe(false);
  // Who has left takes nobody's place.
  await leave(app, team, others[1] as Person);
  expect((await follow(team.guest)).status).toBe(200);
  expect((await followers(team.guest))[0]).toBe(true);
  const marks = () => db()('notice_marks').where({ team_id: team.team_id });
  expect((await marks()).length).toBe(102);
});

it('is no business of strangers, of former members, and of administrators in another’s name; bad input is refused', async () => {
  const stranger = await buildPerson(app);
  for (const answer of [await app.as(stranger).get(path()), await follow(stranger)]) expect(answer.status).toBe(403);
  expect((await app.as(team.member).get('/api/tasks/unknown/followers')).status).toBe(404);
  await follow(team.member);
  await leave(app, team, team.member);
  expect((await follow(team.member)).status).toBe(403);
  await comment(team.manager, 'Secret');
  await told(team.admin);
  expect(await db()('notifications').where({ user_id: team.member.user_id })).toEqual([]);
  for (const body of [{}, { follows: 'yes' }, []]) expect((await app.as(team.admin).put(`${path()}/me`, body)).status).toBe(422);
  await app.as(team.admin).delete(`/api/tasks/${id}`);
  expect((await follow(team.admin)).status).toBe(404);
});

it('goes with the task for good, also while it is followed', async () => {
  await app.as(team.admin).delete(`/api/tasks/${id}`);
  const purge = app.as(team.admin).delete(`/api/trash/task/${id}`);
  const [{ status }, answer] = await Promise.all([purge, follow(team.member)]);
  expect([status, answer.status]).toEqual([200, 404]);
  expect(await db()('task_followers').where({ task_id: id })).toEqual([]);
});

describe('on its page', () => {
  let browser: Browser;
  beforeEach(async () => {
    await givePasswords(app);
    browser = await signIn(app, team.guest);
  });

  it('a button follows it and no more, and the page names the others', async () => {
    const page = `/app/items/${id}`;
    const name = await nameOf(team.manager);
    const read = async () => {
      const { html } = await browser.get(page);
      return [/name="follows" value="(yes|no)"/.exec(html)?.[1], html.includes(`followed by ${name}`)];
    };
    expect(await read()).toEqual(['yes', true]);
    expect((await browser.post(`${page}/follow`, { follows: 'yes' }, { from: page })).status).toBe(303);
    expect(await read()).toEqual(['no', true]);
    await browser.post(`${page}/follow`, { follows: 'no' }, { from: page });
    expect(await read()).toEqual(['yes', true]);
    expect((await browser.post(`${page}/follow`, { follows: 'maybe' }, { from: page })).status).toBe(422);
    const file = await buildTask(app, team, project);
    expect((await browser.get(`/app/items/${file.task_id}`)).status).toBe(200);
  });
});

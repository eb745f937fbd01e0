import type { Scope } from '../../../../api/platform/access/scopes.js';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { mailNotices } from '../../../../api/work/notifications/mail-notices.js';
import { mailTime } from '../../../../api/work/notifications/mail-time.js';
import { wordSubject } from '../../../../api/work/notifications/rules.js';
import { wordNotice } from '../../../../api/work/notifications/word-notice.js';
import { writeNotices } from '../../../../api/work/notifications/write-notices.js';
import type { NoticeFact } from '../../../../api/work/notifications/write-notices.sql.js';
import { createFormatter } from '../../../../api/web/wording/formatter.js';
import { buildTeam, buildToken, leave, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { givePasswords, signIn } from '../../web/browser.js';

// What concerns one person: tasks given to them, comments that name or answer them, runs of theirs that ended badly.

let app: TestApp;
let team: TestTeam;
let project_id: string;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  const made = await app.as(team.admin).post('/api/projects', { team_id: team.team_id, name: 'Harbour' });
  ({ project_id } = made.body.data);
});

const db = () => app.services.db;
interface Notice {
  kind: string;
  message: string;
  item_id: string | null;
  comment_id: string | null;
  more: number;
  read_at: string | null;
}
/** Empties the marks, which other tests leave too. */
async function write(): Promise<void> {
  while ((await writeNotices(app.services)) > 0);
}
const inbox = async (person: Person, query = ''): Promise<Notice[]> =>
  (await app.as(person).get(`/api/notifications${query}`)).body;
const messages = async (person: Person): Promise<string[]> => {
  await write();
  return (await inbox(person)).map(({ message, more }) => (more > 0 ? `${message} +${more}` : message));
};
const nameOf = async (person: Person): Promise<string> =>
  (await db()('users').where({ user_id: person.user_id }).first()).display_name;
async function createTask(by: Person, title: string, fields: object = {}): Promise<string> {
  const made = await app.as(by).post('/api/tasks', { project_id, title, ...fields });
  expect(made.status).toBe(201);
  return made.body.task_id;
}
const assign = (by: Person, id: string, to: Person | null) =>
  app.as(by).patch(`/api/tasks/${id}`, { assigned_to: to?.user_id ?? null });
const comment = async (by: Person, id: string, content: string, fields: object = {}): Promise<string> => {
  const made = await app.as(by).post(`/api/tasks/${id}/comments`, { content, ...fields });
  expect(made.status).toBe(201);
  return made.body.comment_id;
};

describe('an assignment', () => {
  it('is told once, at the creation or later, with who made it, and not to those who made it themselves', async () => {
    const { admin, member } = team;
    const id = await createTask(admin, 'Fix  the\ncrane', { assigned_to: member.user_id });
    const who = await nameOf(admin);
    expect(await messages(member)).toEqual([`${who} assigned you “Fix the crane”`]);
    expect(await inbox(member)).toMatchObject([{ kind: 'assigned', item_id: id, triggered_by: admin.user_id, read_at: null }]);
    await app.as(admin).patch(`/api/tasks/${id}`, { priority: 'high' });
    await createTask(member, 'Mine', { assigned_to: member.user_id });
    expect((await messages(member)).length).toBe(1);
    await assign(admin, id, team.manager);
    expect(await messages(team.manager)).toEqual([`${who} assigned you “Fix the crane”`]);
    expect(await inbox(admin)).toEqual([]);
  });

  it('that was changed again before it was told is not told, and neither is one of a task in the trash', async () => {
    const { admin, member, manager } = team;
    const id = await createTask(admin, 'Crane', { assigned_to: member.user_id });
    await assign(admin, id, manager);
    const gone = await createTask(admin, 'Gone', { assigned_to: member.user_id });
    await app.as(admin).delete(`/api/tasks/${gone}`);
    expect([await messages(member), (await messages(manager)).length]).toEqual([[], 1]);
  });

  it('of many tasks stands as twenty notices, of which the last counts the others; what is read makes room', async () => {
    const { admin, member } = team;
    const tasks = Array.from({ length: 60 }, (_, n) => ({ project_id, title: `T${n}`, assigned_to: member.user_id }));
    expect((await app.as(admin).post('/api/tasks/bulk', tasks)).status).toBe(200);
    const who = await nameOf(admin);
    const short = async () => (await messages(member)).map((text) => text.replace(`${who} assigned you `, ''));
    const first = Array.from({ length: 19 }, (_, n) => `“T${18 - n}”`);
    expect(await short()).toEqual(['“T59” +40', ...first]);
    await createTask(admin, 'One', { assigned_to: member.user_id });
    expect(await short()).toEqual(['“One” +41', ...first]);
    await createTask(team.manager, 'Other', { assigned_to: member.user_id });
    expect((await inbox(member)).length).toBe(20);
    expect((await short()).length).toBe(21);
    await app.as(member).post('/api/notifications/read', {});
    await createTask(admin, 'Two', { assigned_to: member.user_id });
    await write();
    expect((await inbox(member, '?unread=true')).map(({ more }) => more)).toEqual([0]);
  });

  it('is told once when several workers take the marks at the same time', async () => {
    const { admin, member } = team;
    const tasks = Array.from({ length: 3 }, (_, n) => ({ project_id, title: `T${n}`, assigned_to: member.user_id }));
    await app.as(admin).post('/api/tasks/bulk', tasks);
    await Promise.all(Array.from({ length: 6 }, () => writeNotices(app.services)));
    expect((await messages(member)).length).toBe(3);
    expect(await db()('notice_marks').where({ team_id: team.team_id })).toEqual([]);
  });

  it('is taken with at most five hundred marks in a pass, also where statistics know of none', async () => {
    const { admin, member } = team;
    const id = await createTask(admin, 'Crane', { assigned_to: member.user_id });
    await write();
    await db().raw('analyze notice_marks');
    const mark = { kind: 'assigned', team_id: team.team_id, user_id: member.user_id, entity_id: id };
    await db().batchInsert('notice_marks', Array<typeof mark>(1_200).fill(mark), 600);
    expect(await writeNotices(app.services)).toBe(500);
    expect(await db()('notice_marks').where({ entity_id: id })).toHaveLength(700);
    await write();
  });

  it('of a kind that only a newer version knows is left to its worker', async () => {
    const trx = await db().transaction();
    await trx.raw('alter table notice_marks drop constraint notice_marks_kind_check');
    await trx('notice_marks').insert({ kind: 'of_later', team_id: team.team_id, user_id: team.admin.user_id, entity_id: 'x' });
    await writeNotices({ db: trx });
    expect(await trx('notice_marks').pluck('kind')).toContain('of_later');
    await trx.rollback();
  });

  it('of very many tasks stands as twenty notices that count all, also when several workers write them', async () => {
    const { admin, member } = team;
    const tasks = Array.from({ length: 60 }, (_, n) => ({ project_id, title: `T${n}`, assigned_to: member.user_id }));
    await app.as(admin).post('/api/tasks/bulk', tasks);
    const columns = ['xid', 'kind', 'team_id', 'user_id', 'entity_id'];
    const marks = await db()('notice_marks').where({ team_id: team.team_id }).select(columns);
    for (let n = 1; n < 20; n += 1) await db()('notice_marks').insert(marks);
    await Promise.all(Array.from({ length: 4 }, () => write()));
    await write();
    const told = await inbox(member);
    expect([told.length, told.reduce((sum, { more }) => sum + more, 0)]).toEqual([20, 20 * 60 - 20]);
  });

  it('of a description names those whom it mentions, and after a change those whom it did not name before', async () => {
    const { admin, member, manager } = team;
    const names = await db()('users')
      .whereIn('user_id', [member.user_id, manager.user_id, admin.user_id])
      .select<{ user_id: string; username: string }[]>('user_id', 'username');
    const byId = new Map(names.map(({ user_id, username }) => [user_id, `@${username.toUpperCase()}`]));
    const at = (person: Person) => byId.get(person.user_id);
    const id = await createTask(admin, 'Crane', { description: `Ask ${at(member)}, not x${at(manager)} nor @nobody.` });
    const said = `${await nameOf(admin)} mentioned you on “Crane”`;
    expect([await messages(member), await messages(manager)]).toEqual([[said], []]);
    await app.as(admin).patch(`/api/tasks/${id}`, { description: `${at(member)} and ${at(manager)}.` });
    expect([await messages(member), await messages(manager)]).toEqual([[said], [said]]);
    await app.as(admin).patch(`/api/tasks/${id}`, { title: 'Other', description: `${at(admin)}` });
    expect(await messages(admin)).toEqual([]);
  });

  it('is lost for those who have left the team', async () => {
    const { admin, member } = team;
    await createTask(admin, 'Crane', { assigned_to: member.user_id });
    await leave(app, team, member);
    expect(await messages(member)).toEqual([]);
    expect(await db()('notifications').where({ user_id: member.user_id })).toEqual([]);
  });
});

describe('a comment', () => {
  it('is told to those it names, to the assignee, the creator, and the author of the comment it answers, each once', async () => {
    const { admin, manager, member } = team;
    const id = await createTask(admin, 'Crane', { assigned_to: manager.user_id });
    await write();
    const [adminName, memberName, managerName] = await Promise.all([admin, member, manager].map(nameOf));
    const first = await comment(member, id, `@${managerName} please\nlook`);
    expect((await messages(manager))[0]).toBe(`${memberName} mentioned you on “Crane”: @${managerName} please look`);
    expect(await messages(admin)).toEqual([`${memberName} commented on “Crane”: @${managerName} please look`]);
    expect(await inbox(admin)).toMatchObject([{ item_id: id, comment_id: first }]);
    await comment(admin, id, 'Done', { parent_comment_id: first });
    expect(await messages(member)).toEqual([`${adminName} commented on “Crane”: Done`]);
  });

  it('tells an edit’s new names only; its deletion takes its notices along, even while they are written', async () => {
    const { admin, manager, member } = team;
    const id = await createTask(admin, 'Crane');
    const said = await comment(admin, id, `@${await nameOf(member)} secret`);
    await write();
    const path = `/api/comments/${said}`;
    expect(
      (await app.as(admin).patch(path, { content: `@${await nameOf(member)} @${await nameOf(manager)} secret` })).status,
    ).toBe(200);
    expect([(await messages(member)).length, (await messages(manager)).length]).toEqual([1, 1]);
    const other = await comment(admin, id, `@${await nameOf(member)} more`);
    await Promise.all([write(), app.as(admin).delete(path), app.as(admin).delete(`/api/comments/${other}`), write()]);
    expect([await messages(member), await messages(manager)]).toEqual([[], []]);
  });
});

it('an edit is told in place of the old text that was not read; no email quotes the old text, or a task in the trash', async () => {
  const { admin, member, manager } = team;
  const id = await createTask(member, 'Crane', { assigned_to: manager.user_id });
  const said = await comment(admin, id, `@${await nameOf(manager)} hunter2`);
  await write();
  expect((await app.as(admin).patch(`/api/comments/${said}`, { content: 'never mind' })).status).toBe(200);
  const who = await nameOf(admin);
  expect(await messages(member)).toEqual([`${who} commented on “Crane”: never mind`]);
  // It names the manager no more.
  expect((await messages(manager)).join()).not.toContain('hunter2');
  const isRead = await app.as(member).post('/api/notifications/read', {});
  expect(isRead.status).toBe(200);
  await app.as(admin).patch(`/api/comments/${said}`, { content: 'Again' });
  expect(await messages(member)).toEqual([`${who} commented on “Crane”: never mind`]);
  const other = await comment(admin, id, 'Old words');
  await write();
  await app.as(admin).delete(`/api/tasks/${id}`);
  await db()('notifications')
    .where({ comment_id: other })
    .update({ mail_at: new Date(0) });
  await mailNotices(app.services);
  expect(await listMails(app.services, member.email)).toEqual([]);
});

it('a strict token without tasks:read reads no title and no comment in notices', async () => {
  const { admin, member } = team;
  const id = await createTask(admin, 'Secret crane', { assigned_to: member.user_id });
  await comment(admin, id, 'Secret words');
  await write();
  const [{ notification_id: first }] = (await app.as(member).get('/api/notifications')).body;
  const scopes: Scope[] = ['automations:read', 'automations:write'];
  const strict = app.as(await buildToken(app, member, scopes, { strict: true }));
  expect((await strict.get('/api/notifications')).body).toEqual([]);
  expect((await strict.patch(`/api/notifications/${first}`, { read: true })).status).toBe(404);
  const reader = app.as(await buildToken(app, member, [...scopes, 'tasks:read'], { strict: true }));
  expect((await reader.get('/api/notifications')).body).toHaveLength(2);
});

it('a run that fails is told to its creator, a rejected one with who and why; a trial run is not', async () => {
  const { member, manager } = team;
  const failed = await buildRun(app, team);
  await db()('automation_runs')
    .where({ run_id: failed.run_id })
    .update({ status: 'failed', error: JSON.stringify({ code: 'x', message: 'No route' }) });
  const trial = await buildRun(app, team, { fields: { is_test: true } });
  await db()('automation_runs').where({ run_id: trial.run_id }).update({ status: 'failed' });
  expect(await messages(member)).toEqual(['A run of “Deploy on merge” failed: No route']);
  const rejected = await buildRun(app, team);
  expect((await app.as(manager).post(`/api/automations/runs/${rejected.run_id}/reject`, { reason: 'Too early' })).status).toBe(
    200,
  );
  await write();
  await db()('automation_runs').where({ run_id: rejected.run_id }).update({ status: 'skipped', skip_reason: 'rejected' });
  expect((await messages(member))[0]).toBe(`${await nameOf(manager)} rejected a run of “Deploy on merge”: Too early`);
});

describe('an email', () => {
  const isDue = (person: Person) =>
    db()('notifications').where({ user_id: person.user_id }).whereNotNull('mail_at').update({ mail_at: db().fn.now() });
  const mails = async (person: Person) =>
    (await listMails(app.services, person.email)).map(({ subject, text }) => ({ subject, text }));

  it('lists what is unread after its time, once, and counts what it does not list', async () => {
    const { admin, member } = team;
    const tasks = Array.from({ length: 25 }, (_, n) => ({
      project_id,
      title: `see evil.example ${n}`,
      assigned_to: member.user_id,
    }));
    await app.as(admin).post('/api/tasks/bulk', tasks);
    await write();
    await mailNotices(app.services);
    expect(await mails(member)).toEqual([]);
    await isDue(member);
    await Promise.all([mailNotices(app.services), mailNotices(app.services)]);
    await mailNotices(app.services);
    const [mail, ...others] = await mails(member);
    expect([mail?.subject, others]).toEqual(['25 things for you', []]);
    expect(mail?.text).toContain('And 15 more.');
    expect(mail?.text).not.toContain('evil.example');
  });

  it('does not come for what was read, for former members, or for those who want none', async () => {
    const { admin, manager, member, guest } = team;
    expect((await app.as(guest).put('/api/notifications/settings', { mail: 'never' })).body).toEqual({ mail: 'never' });
    expect((await app.as(guest).get('/api/notifications/settings')).body).toEqual({ mail: 'never' });
    for (const person of [manager, member, guest]) await createTask(admin, 'Crane', { assigned_to: person.user_id });
    await write();
    await app.as(manager).post('/api/notifications/read', {});
    await leave(app, team, member);
    for (const person of [manager, member, guest]) await isDue(person);
    await mailNotices(app.services);
    for (const person of [manager, member, guest]) expect(await mails(person)).toEqual([]);
    expect((await app.as(guest).put('/api/notifications/settings', { mail: 'hourly' })).status).toBe(422);
  });

  it.each<[NoticeFact['notice_mail'], string | null, string | null]>([
    ['soon', null, '2026-11-27T12:10:00.000Z'],
    ['never', 'UTC', null],
    ['daily', 'Europe/Berlin', '2026-11-28T07:00:00Z'],
    ['daily', 'America/Los_Angeles', '2026-11-27T16:00:00Z'],
    ['daily', 'Nowhere/Land', '2026-11-28T08:00:00Z'],
  ])('comes %s in %s at %s', (notice_mail, timezone, at) => {
    expect(mailTime({ notice_mail, timezone }, new Date('2026-11-27T12:00:00Z'))).toBe(at);
  });
});

it.each([
  ['HAR-12: Uma assigned you “Fix the crane”', 'Uma assigned you HAR-12 Fix the crane'],
  ['HAR-12: Uma commented on “Crane”: See “this”', 'Uma commented on HAR-12 Crane'],
  ['A run of “Crane” failed: no route', 'A run of “Crane” failed: no route'],
])('an email about one thing, %s, has the subject %s', (message, subject) => {
  expect(wordSubject(message)).toBe(subject);
});

it.each([
  ['See ![image.png](/app/files/1) there', 'See image there'],
  ['![image.png](/app/fil', 'image'],
  ['![](/app/files/1)', 'image'],
])('a picture in %s is its name', (quoted, text) => {
  const fact = { kind: 'commented', actor_name: 'Uma', actor_type: 'user', title: 'Crane', quoted } as NoticeFact;
  expect(wordNotice(fact)).toBe(`Uma commented on “Crane”: ${text}`);
});

it('an inbox writes dates of programs as pages do', () => {
  const { dated } = createFormatter(null);
  expect(dated('Due 2026-12-24, seen 2026-12-24T10:30:00Z, not 2026-99-99')).toMatch(
    /^Due 24 Dec, seen 24 Dec 2026, .*, not 2026-99-99$/,
  );
});

it.each<[Partial<NoticeFact>, string]>([
  [{ kind: 'assigned', actor_type: 'automation' }, 'An automation of Ada assigned you “Crane”'],
  [{ kind: 'assigned', actor_type: 'agent' }, 'A plan that Ada confirmed assigned you “Crane”'],
  [{ kind: 'assigned', actor_name: null }, 'Assent assigned you “Crane”'],
  [
    { kind: 'run_ended', outcome: 'failed', quoted: 'actions[2] (notify): no route' },
    'A run of “Crane” failed: step 3 (notify): no route',
  ],
  [{ kind: 'run_ended', outcome: 'expired' }, 'A run of “Crane” ended: nobody decided in time'],
  [{ kind: 'run_ended', outcome: 'skipped', quoted: ' ' }, 'Ada rejected a run of “Crane”'],
])('%j is worded', (fact, text) => {
  const plain = { title: 'Crane', actor_name: 'Ada', actor_type: 'user', quoted: null, outcome: null };
  expect(wordNotice({ ...plain, ...fact } as NoticeFact)).toBe(text);
});

it('the inbox leads to the task, whose page marks its notices as read, and saves when emails come', async () => {
  const { admin, member } = team;
  await givePasswords(app);
  const id = await createTask(admin, 'Crane', { assigned_to: member.user_id });
  const said = await comment(admin, id, 'Hello');
  await write();
  const browser = await signIn(app, member);
  const page = await browser.get('/app/notifications');
  expect(page.html).toContain(`href="/app/items/${id}"`);
  expect(page.html).toContain(`href="/app/items/${id}#comment-${said}"`);
  await browser.get(`/app/items/${id}`);
  expect(await inbox(member, '?unread=true')).toEqual([]);
});

it('the inbox has one row for a task, by its present title, and marks all of it as read but not what came later', async () => {
  const { admin, manager, member } = team;
  await givePasswords(app);
  const id = await createTask(admin, 'Crane', { assigned_to: member.user_id });
  await comment(admin, id, `Look, @${await nameOf(member)}”: and here`, { mentions: [member.user_id] });
  await comment(manager, id, 'Hello');
  const other = await createTask(admin, 'Quay', { assigned_to: member.user_id });
  await write();
  await app.as(admin).patch(`/api/tasks/${id}`, { title: 'Crane 2' });
  const browser = await signIn(app, member);
  const read = async () => (await browser.get('/app/notifications')).html;
  const html = await read();
  const rows = html.split('<li class="new">').slice(1);
  expect(rows).toHaveLength(2);
  const [first = '', second = ''] = rows.toSorted((row) => (row.includes('Quay') ? 1 : -1));
  expect(second).toContain(`href="/app/items/${other}"`);
  expect(first).toContain('>Crane 2</a>');
  expect(first).not.toContain('“Crane”');
  // Later comments do not hide a mention.
  expect(first).toContain(`<span class="reason">${await nameOf(admin)} mentioned you: Look`);
  expect(first).toContain('<summary>and 2 more: 1 comment, 1 assignment<');
  expect(first).toContain(`${await nameOf(admin)} assigned you</a>`);
  expect(html).toContain('class="count">2<span class="unseen"> unread');

  const up_to = /name="up_to" value="([^"]+)"><input type="hidden" name="item_id"/.exec(first)?.[1] as string;
  await comment(manager, id, 'Later');
  await write();
  await browser.post('/app/notifications/read', { up_to, item_id: id }, { from: '/app/notifications' });
  expect((await inbox(member, '?unread=true')).map(({ message }) => message)).toEqual([
    `${await nameOf(manager)} commented on “Crane 2”: Later`,
    `${await nameOf(admin)} assigned you “Quay”`,
  ]);
  // What is stored and given over the API stays as it was.
  expect((await inbox(member)).filter(({ message }) => message.includes('“Crane”'))).toHaveLength(3);

  await db()('tasks').where({ task_id: id }).update({ deleted_at: new Date() });
  expect(await read()).toContain(`${await nameOf(manager)} commented on “Crane 2”: Later</a>`);
});

it('a row of the inbox tells each unread mention and question, folds the rest by kind, and a read mention too', async () => {
  const { admin, manager, member } = team;
  await givePasswords(app);
  const id = await createTask(member, 'Crane?');
  const named = await nameOf(member);
  const mention = (text: string) => comment(admin, id, `${text} @${named}`, { mentions: [member.user_id] });
  await mention('Look');
  for (const text of ['One', 'Two', 'Shall we? I think so', 'Three', 'Four', 'Five']) await comment(manager, id, text);
  await write();
  const browser = await signIn(app, member);
  const row = async () =>
    (await browser.get('/app/notifications')).html.split('<ul class="rows told">')[1]?.split('<form')[0] ?? '';
  const shown = await row();
  const [visible = '', folded = ''] = shown.split('<details>');
  expect(visible).toContain('mentioned you: Look');
  expect(visible).toContain('commented: Shall we? I think so');
  expect(folded).toContain('<summary>and 5 more comments<');
  expect(folded).toContain('commented: One');
  await app.as(member).post('/api/notifications/read', {});
  await comment(manager, id, 'Six');
  await write();
  const later = await row();
  expect(later.split('<details>')[0]).toContain('commented: Six');
  expect(later).toMatch(/<summary>and 7 more: 6 comments, 1 mention</);
});

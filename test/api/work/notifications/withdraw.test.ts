import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { mailNotices } from '../../../../api/work/notifications/mail-notices.js';
import { writeNotices } from '../../../../api/work/notifications/write-notices.js';
import { buildProject, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Browser, givePasswords, signIn } from '../../web/browser.js';

// Notices of assignments that are undone from the notice of the change are withdrawn while nobody has read them.

let app: TestApp;
let team: TestTeam;
let project_id: string;
let browser: Browser;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  ({ project_id } = await buildProject(app, team));
  await givePasswords(app);
  browser = await signIn(app, team.manager);
});

const db = () => app.services.db;
const write = async (): Promise<void> => {
  while ((await writeNotices(app.services)) > 0);
};
const inbox = async (person: Person): Promise<{ message: string; more: number }[]> => {
  await write();
  return (await app.as(person).get('/api/notifications')).body;
};
const createTasks = async (count: number, fields: object = {}): Promise<string[]> => {
  const tasks = Array.from({ length: count }, (_one, n) => ({ project_id, title: `T${n}`, ...fields }));
  const made = await app.as(team.manager).post('/api/tasks/bulk', tasks);
  return made.body.results.map(({ task_id }: { task_id: string }) => task_id);
};
/** Assigns tasks from a list, and returns what undoes that. */
const assign = async (ids: readonly string[], to: Person, version = 1): Promise<string> => {
  const form = { task: ids.map((id) => `${version}:${id}`), assigned_to: to.user_id, back: '/app' };
  const answer = await browser.post('/app/tasks/change', form, { from: '/app' });
  const { html } = await browser.get(answer.headers.get('location') ?? '');
  return /name="undo" value="([^"]*)"/.exec(html)?.[1] ?? '';
};
const undo = async (packed: string): Promise<string> => {
  const answer = await browser.post('/app/undo', { undo: packed, back: '/app' }, { from: '/app' });
  return (await browser.get(answer.headers.get('location') ?? '')).html;
};

it.each([1, 30])('of %d tasks are withdrawn, and from the email that was not sent', async (count) => {
  const ids = await createTasks(count);
  const packed = await assign(ids, team.member);
  const standing = await inbox(team.member);
  expect(standing.reduce((sum, { more }) => sum + 1 + more, 0)).toBe(count);
  await undo(packed);
  expect(await inbox(team.member)).toEqual([]);
  await db()('notifications').where({ user_id: team.member.user_id }).update({ mail_at: db().fn.now() });
  await mailNotices(app.services);
  expect(await listMails(app.services, team.member.email)).toEqual([]);
});

it('that a later one folded stay, and one that was read stays', async () => {
  await createTasks(25, { assigned_to: team.member.user_id });
  await write();
  const [id = ''] = await createTasks(1);
  const packed = await assign([id], team.member);
  expect((await inbox(team.member))[0]).toMatchObject({ item_id: id, more: 6 });
  await undo(packed);
  const [last] = await inbox(team.member);
  expect(last).toMatchObject({ message: expect.stringContaining('“T24”'), more: 5 });
  const again = await assign([id], team.member, 3);
  await write();
  await app.as(team.member).post('/api/notifications/read', {});
  await undo(again);
  expect((await inbox(team.member)).some(({ message }) => message.includes('“T0”'))).toBe(true);
});

it('leave the assignee of before alone', async () => {
  const [id = ''] = await createTasks(1, { assigned_to: team.admin.user_id });
  expect(await inbox(team.admin)).toHaveLength(1);
  const packed = await assign([id], team.member);
  await undo(packed);
  expect([await inbox(team.admin), await inbox(team.member)]).toMatchObject([[{ item_id: id }], []]);
});

it('do not come back when workers write and mail them at the same moment, and no mail is sent twice', async () => {
  for (let round = 0; round < 5; round += 1) {
    const ids = await createTasks(8);
    const packed = await assign(ids, team.member);
    if (round % 2 === 1) {
      await write();
      await db()('notifications').where({ user_id: team.member.user_id }).update({ mail_at: db().fn.now() });
    }
    const [html] = await Promise.all([
      undo(packed),
      writeNotices(app.services),
      mailNotices(app.services),
      mailNotices(app.services),
    ]);
    expect(html).toContain('changes were undone');
    expect(await inbox(team.member)).toEqual([]);
    expect((await listMails(app.services, team.member.email)).length).toBeLessThanOrEqual(Math.ceil(round / 2) + 1);
  }
});

import { buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, openNextGate } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { givePasswords, signIn } from '../../web/browser.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const db = () => app.services.db;
interface Recipient {
  notification_id: string;
  message: string;
  read_at: string | null;
}
/** Something that a person was told; a number of them, oldest first. */
async function tell(person: Person, count: number, fields: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    const row = { user_id: person.user_id, team_id: team.team_id, kind: 'message', message: `${n}`, ...fields };
    const [made] = await db()('notifications').insert(row).returning<{ notification_id: string }[]>('notification_id');
    ids.push(made?.notification_id as string);
  }
  return ids;
}
const list = (person: Person, query = '') => app.as(person).get(`/api/notifications${query}`);
const unread = async (person: Person): Promise<string[]> =>
  (await list(person, '?unread=true')).body.map(({ message }: Recipient) => message);
const mark = (person: Person, id: string | undefined, read: unknown) =>
  app.as(person).patch(`/api/notifications/${id}`, { read });
const markAll = (person: Person, body: object = {}) => app.as(person).post('/api/notifications/read', body);

it('one is marked as read, and as unread again; the time it was read first stays', async () => {
  const [first, second] = await tell(team.guest, 2);
  expect((await list(team.guest)).body.map(({ read_at }: Recipient) => read_at)).toEqual([null, null]);
  const read = await mark(team.guest, first, true);
  expect(read).toMatchObject({ status: 200, body: { notification_id: first, read_at: expect.stringMatching(/Z$/) } });
  expect((await mark(team.guest, first, true)).body).toEqual(read.body);
  expect(await unread(team.guest)).toEqual(['2']);
  expect((await mark(team.guest, first, false)).body).toMatchObject({ read_at: null });
  expect(await unread(team.guest)).toEqual(['2', '1']);
  expect((await mark(team.guest, second, 'yes')).status).toBe(422);
  expect((await list(team.guest, '?unread=maybe')).status).toBe(422);
});

it('all are marked as read, but for what came after the newest that was seen, or all of one run', async () => {
  const run = await buildRun(app, team);
  const [, second] = await tell(team.manager, 3);
  await tell(team.manager, 1, { run_id: run.run_id, message: 'run' });
  await tell(team.admin, 1);
  expect(await markAll(team.manager, { run_id: run.run_id })).toMatchObject({ status: 200, body: { marked: 1 } });
  expect((await markAll(team.manager, { up_to: second })).body).toEqual({ marked: 2 });
  expect(await unread(team.manager)).toEqual(['3']);
  expect((await markAll(team.manager, { up_to: 'garbage' })).body).toEqual({ marked: 0 });
  expect((await markAll(team.manager)).body).toEqual({ marked: 1 });
  expect((await markAll(team.manager)).body).toEqual({ marked: 0 });
  expect(await unread(team.admin)).toEqual(['1']);
});

it('lists unread notifications page by page, also when pages are read meanwhile', async () => {
  const ids = await tell(team.member, 5);
  await mark(team.member, ids[3], true);
  const seen: string[] = [];
  for (let path = '/api/notifications?unread=true&limit=2'; path !== ''; ) {
    const { body, headers } = await app.as(team.member).get(path);
    for (const { notification_id, message } of body as Recipient[]) {
      seen.push(message);
      await mark(team.member, notification_id, true);
    }
    path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
    if (path) expect(path).toContain('unread=true');
  }
  expect(seen).toEqual(['5', '3', '2', '1']);
});

it('omits notifications of other users and of former teams', async () => {
  const [theirs] = await tell(team.admin, 1);
  const [own] = await tell(team.member, 1);
  for (const id of [theirs, '0197a000-0000-7000-8000-000000000001', 'garbage']) {
    expect(await mark(team.member, id, true)).toMatchObject({ status: 404, body: { error_code: 'RESOURCE_NOT_FOUND' } });
  }
  await db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).delete();
  expect((await mark(team.member, own, true)).status).toBe(404);
  expect((await markAll(team.member)).body).toEqual({ marked: 0 });
  expect(
    await db()('notifications')
      .whereIn('notification_id', [theirs ?? '', own ?? ''])
      .pluck('read_at'),
  ).toEqual([null, null]);
});

it('an approval request shows the state of each gate', async () => {
  await givePasswords(app);
  const run = await buildRun(app, team, { actions: [GATE, GATE, GATE] });
  const ask = (kind: string) => tell(team.guest, 1, { run_id: run.run_id, kind });
  const states = async () => (await list(team.guest)).body.map(({ gate }: { gate: { state: string } | null }) => gate?.state);
  await ask('approval_requested');
  await ask('message');
  expect(await states()).toEqual([undefined, 'pending']);
  await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`);
  await openNextGate(app, run, 1);
  const second = () => db()('gates').where({ run_id: run.run_id, gate_index: 1 });
  await second().update({ requested_at: db().raw('clock_timestamp()') });
  await ask('approval_reminder');
  expect(await states()).toEqual(['pending', undefined, 'approved']);
  await second().update({ expires_at: db().raw('clock_timestamp()') });
  expect(await states()).toEqual(['lapsed', undefined, 'approved']);
  await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/reject`);
  const [{ gate }] = (await list(team.guest)).body;
  expect(gate).toEqual({ state: 'rejected', decided_by: team.manager.user_id, decided_at: expect.stringMatching(/Z$/) });
  const { html } = await (await signIn(app, team.guest)).get('/app/notifications');
  const name = team.manager.email.split('@')[0];
  expect(html).toContain(`Approval requested · approved by ${name}`);
  expect(html).toContain(`Approval requested · rejected by ${name}`);
  const other = await buildRun(app, team);
  await tell(team.guest, 1, { run_id: other.run_id, kind: 'approval_requested' });
  await app.as(team.manager).post(`/api/automations/runs/${other.run_id}/cancel`);
  expect((await states())[0]).toBe('closed');
});

it('the inbox in the web app counts, marks, and takes a run that was looked at as read', async () => {
  await givePasswords(app);
  const run = await buildRun(app, team);
  const [first = ''] = await tell(team.manager, 2);
  await tell(team.manager, 1, { run_id: run.run_id, kind: 'approval_requested', message: 'Ship <it>?' });
  const browser = await signIn(app, team.manager);
  const path = '/app/notifications';
  const count = async () => /class="count">(\d+)<span class="unseen"> unread/.exec((await browser.get(path)).html)?.[1] ?? '0';
  const { html } = await browser.get(path);
  expect(html).toContain(`<a href="/app/runs/${run.run_id}">Ship &lt;it&gt;?</a>`);
  expect(html).toMatch(/Deploy on merge · expires in [^·]+ · #12 · Approval requested/);
  expect(await count()).toBe('3');
  await browser.get(`/app/runs/${run.run_id}`);
  expect(await count()).toBe('2');
  await browser.post(`${path}/${first}`, { read: 'true' }, { from: path });
  expect(await unread(team.manager)).toEqual(['2']);
  await browser.post(`${path}/read`, { up_to: first }, { from: path });
  expect(await count()).toBe('1');
  const [theirs = ''] = await tell(team.admin, 1);
  await browser.post(`${path}/${theirs}`, { read: 'true' }, { from: path });
  expect(await unread(team.admin)).toEqual(['1']);
});

/** The page on which admins say who must approve change requests. */
import { buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

let app: TestApp;
let team: TestTeam;
let admin: Browser;
let member: Browser;
let path: string;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  await givePasswords(app);
  [admin, member] = [await signIn(app, team.admin), await signIn(app, team.member)];
  path = `/app/teams/${team.team_id}/request-rules`;
});
afterAll(() => app.close());

const rules = async () => (await app.as(team.admin).get(`/api/teams/${team.team_id}/request-rules`)).body;
const version = (html: string): string => /name="version" value="(\d+)"/.exec(html)?.[1] ?? '';
const EMPTY = { place: '', name: '*', target: '*', role: '', approvals: '', max_use_seconds: '' };
/** Sends a form of the page as it is shown now. */
const send = async (at: string, fields: Record<string, string>) =>
  admin.post(`${path}${at}`, { version: version((await admin.get(path)).html), ...fields }, { from: path });

it('adds, changes, orders and deletes rules', async () => {
  expect((await admin.get(`/app/teams/${team.team_id}`)).html).toContain(path);
  await send('', { ...EMPTY, system: 'payments', name: 'refund', role: 'admin', approvals: '2', require_code: 'y' });
  await send('', { ...EMPTY, system: 'kube*', target: '', is_denied: 'y' });
  expect(await rules()).toMatchObject({
    version: 2,
    rules: [
      { system: 'payments', name: 'refund', target: '*', role: 'admin', approvals: 2, allow_self: false, require_code: true },
      { system: 'kube*', name: '*', target: '', role: null, approvals: null, is_denied: true },
    ],
  });
  const text = (await admin.get(path)).html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
  expect(text).toMatch(
    /payments: refund.*2 approvals, each from an admin · not behind the request · types a code.*kube\*: \*on no target Refused at once/,
  );
  expect((await admin.get(`${path}?edit=0`)).html).toMatch(/name="approvals"[^>]*value="2"/);
  await send('', { ...EMPTY, place: '0', system: 'payments', max_use_seconds: '900', allow_self: 'y' });
  await send('/move', { place: '1', to: 'up' });
  expect((await rules()).rules).toMatchObject([
    { system: 'kube*' },
    { system: 'payments', name: '*', role: null, approvals: null, allow_self: true, require_code: false, max_use_seconds: 900 },
  ]);
  await send('/delete', { place: '0' });
  expect((await rules()).rules).toMatchObject([{ system: 'payments' }]);
});

it('changes nothing of a list that another admin has replaced, and says so', async () => {
  const seen = version((await admin.get(path)).html);
  const mine = [{ system: 'mine' }];
  await app.as(team.admin).put(`/api/teams/${team.team_id}/request-rules`, { rules: mine });
  const { html } = await admin.post(path, { ...EMPTY, version: seen, system: 'late' });
  expect(html).toContain('The rules were replaced since you read them');
  expect(html).toContain('value="late"');
  for (const [at, fields] of [
    ['/delete', {}],
    ['/move', { to: 'down' }],
  ] as const)
    await admin.post(`${path}${at}`, { version: seen, place: '0', ...fields }, { from: path });
  expect((await rules()).rules).toMatchObject(mine);
});

it('says at its field what is wrong, and takes no more than the API', async () => {
  const { html } = await send('', { ...EMPTY, system: 'a*b', approvals: '9', max_use_seconds: 'x' });
  expect(html).toMatch(/id="h-system" class="wrong">May have \* only at its end/);
  expect(html).toMatch(/id="h-approvals" class="wrong">Must be from 1 to 5/);
  expect(html).toContain('id="h-max_use_seconds" class="wrong"');
  await app
    .as(team.admin)
    .put(`/api/teams/${team.team_id}/request-rules`, { rules: Array.from({ length: 100 }, () => ({ system: 'x' })) });
  expect((await send('', { ...EMPTY, system: 'one more' })).html).toContain('at most 100 rules');
  await send('/delete', { place: '99' });
  await send('/move', { place: '98', to: 'down' });
  expect((await rules()).rules).toHaveLength(99);
});

it('shows a member the rules, and lets none but an admin change them', async () => {
  const { html } = await member.get(path);
  expect(html).toContain('An admin of the team can add, change, order and delete rules.');
  expect(html).not.toContain('Add rule');
  const before = await rules();
  expect((await member.post(path, { ...EMPTY, version: String(before.version), system: 'x' })).status).toBe(403);
  await member.post(`${path}/delete`, { version: String(before.version), place: '0' }, { from: path });
  expect(await rules()).toEqual(before);
});

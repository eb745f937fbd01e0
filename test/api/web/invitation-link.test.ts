import { invitationPath } from '../../../api/identity/teams/invitations/invitation-link.js';
import { mailedCode, mailsTo, PASSWORD } from '../../factories/accounts.js';
import { buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, buildVisitor, givePasswords, openBrowser, signIn } from './browser.js';

// The link of an invitation: who holds it sees who invites them to what, and goes on to the team; anybody else learns nothing.

let app: TestApp;
let team: TestTeam;
let admin: Browser;
let count = 0;
let email: string;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  await app.services.db('teams').where({ team_id: team.team_id }).update({ name: 'Harbor crew' });
  await app.services.db('users').where({ user_id: team.admin.user_id }).update({ display_name: 'Ada Inviter' });
  admin = await signIn(app, team.admin);
  count += 1;
  email = `newcomer${count}@test.example`;
});

const invitations = () => app.services.db('invitations').where({ team_id: team.team_id });
/** Invites the newcomer. Returns the link of the mail. */
async function invite(): Promise<string> {
  const path = `/app/teams/${team.team_id}`;
  await admin.post(`${path}/members`, { email, role: 'member' }, { from: path });
  const [mail] = await mailsTo(app, { email });
  return /\/app\/invitations\/[0-9a-f-]{36}\?key=[\w-]+/.exec(mail?.text ?? '')?.[0] as string;
}
const words = ['Ada Inviter', 'Harbor crew', 'newcomer'];
const told = (html: string): string[] => words.filter((word) => html.includes(word));
const nextIn = (html: string): string => /name="next" value="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';

it('leads a newcomer from the mail through the sign-up into the team', async () => {
  const link = await invite();
  const browser = openBrowser(app);
  const { status, html } = await browser.get(link);
  expect([status, told(html)]).toEqual([200, words]);
  const signUp = `/app/sign-up?next=${encodeURIComponent(link)}`;
  expect(html).toContain(signUp);
  const form = (await browser.get(signUp)).html;
  expect([told(form), nextIn(form), form.includes(`value="${email}"`)]).toEqual([words, link, true]);
  await browser.post('/app/sign-up', { name: 'New Comer', email, next: link }, { from: signUp });
  expect(told((await browser.get('/app/sign-up/code')).html)).toEqual(words);
  const given = { code: await mailedCode(app, { email }), password: 'another fine passphrase' };
  const done = await browser.post('/app/sign-up/code', given, { from: '/app/sign-up/code' });
  expect(done.headers.get('location')).toBe(link);
  const [, accept = ''] = /action="(\/app\/invitations\/[0-9a-f-]+\/accept)"/.exec((await browser.get(link)).html) ?? [];
  const joined = await browser.post(accept, {}, { from: link });
  expect(joined.headers.get('location')).toBe(`/app/teams/${team.team_id}`);
  expect((await browser.get(`/app/teams/${team.team_id}`)).html).toContain('Welcome to the team.');
  // The link was used: it tells a stranger nothing, and the member neither.
  for (const who of [openBrowser(app), browser]) {
    const again = await who.get(link);
    expect([again.status, again.html.includes('This invitation is not valid'), again.html.includes('Ada Inviter')]).toEqual([
      404,
      true,
      false,
    ]);
  }
});

it('is shown to admins of the team while the invitation is pending, the same as was mailed', async () => {
  const link = await invite();
  const path = `/app/teams/${team.team_id}`;
  const { html } = await admin.get(path);
  expect(html).toMatch(new RegExp(`<code id="link-[^"]+">https?://[^<]+${link.replace('?', '\\?')}</code>`));
  expect(html).toContain('Copy link<span class="unseen"> of the invitation of ' + email);
  expect((await (await signIn(app, team.manager)).get(path)).html).not.toContain('Copy link');
  await invitations().update({ expires_at: new Date(0) });
  expect((await admin.get(path)).html).not.toContain('Copy link');
});

it('leads a user through the sign-in, and tells one of another address so', async () => {
  const person = await buildVisitor(app);
  await app.services.db('users').where({ user_id: person.user_id }).update({ email });
  const link = await invite();
  const signInPath = `/app/sign-in?next=${encodeURIComponent(link)}`;
  const browser = openBrowser(app);
  const form = (await browser.get(signInPath)).html;
  expect([told(form), nextIn(form)]).toEqual([words, link]);
  const mine = await signIn(app, { email });
  expect((await mine.get(link)).html).toContain('Join Harbor crew</button>');
  const other = await signIn(app, await buildVisitor(app));
  const { html } = await other.get(link);
  expect([html.includes('It is for another address'), html.includes('/accept"')]).toEqual([true, false]);
  expect((await admin.get(link)).html).toContain('You are in this team already.');
});

it('tells nothing to who guesses, and nothing of an invitation that has ended', async () => {
  const link = await invite();
  const { invitation_id } = await invitations().first();
  const path = `/app/invitations/${invitation_id}`;
  const stranger = openBrowser(app);
  const expectNothing = async (guess: string) => {
    const { status, html } = await stranger.get(guess);
    expect([guess, status, told(html)]).toEqual([guess, 404, []]);
    const form = (await stranger.get(`/app/sign-in?next=${encodeURIComponent(guess)}`)).html;
    expect(told(form.replaceAll(encodeURIComponent(guess), ''))).toEqual([]);
  };
  const other = new URL(invitationPath(app.services.config, team.team_id), 'http://x').searchParams.get('key');
  for (const guess of [
    path,
    `${path}?key=`,
    `${path}?key=${'A'.repeat(43)}`,
    `${path}?key=${other}`,
    `${link}x`,
    '/app/invitations/x?key=y',
  ])
    await expectNothing(guess);
  expect(told((await stranger.get(link)).html)).toEqual(words);
  for (const end of [{ expires_at: new Date(0) }, { revoked_at: new Date() }]) {
    await invitations().update(end);
    await expectNothing(link);
    await invitations().update({ expires_at: new Date(Date.now() + 86_400_000), revoked_at: null });
  }
  await app.services.db('users').where({ user_id: team.admin.user_id }).update({ status: 'suspended' });
  await expectNothing(link);
});

describe('the time zone of a new user', () => {
  const zoneOf = async () => (await app.services.db('users').where({ email }).first()).preferences.timezone as string | undefined;
  const signUp = async (timezone: string | undefined) => {
    const browser = openBrowser(app);
    await browser.post('/app/sign-up', { name: 'New Comer', email }, { from: '/app/sign-up' });
    const given = { code: await mailedCode(app, { email }), password: 'another fine passphrase' };
    const done = await browser.post(
      '/app/sign-up/code',
      { ...given, ...(timezone !== undefined && { timezone }) },
      { from: '/app/sign-up/code' },
    );
    expect(done.status).toBe(303);
    return browser;
  };

  it.each([
    ['Asia/Tokyo', 'Asia/Tokyo'],
    ['', undefined],
    [undefined, undefined],
    ['Mars/Olympus', undefined],
    ['x'.repeat(3_000), undefined],
  ])('sent as %s is %s', async (sent, kept) => {
    await signUp(sent);
    expect(await zoneOf()).toBe(kept);
  });

  it('comes with the first sign-in of others, and an explicit choice stays', async () => {
    const person = await buildVisitor(app);
    await app.services.db('users').where({ user_id: person.user_id }).update({ email });
    const enter = (timezone: string) =>
      openBrowser(app).post('/app/sign-in', { email, password: PASSWORD, timezone }, { from: '/app/sign-in' });
    expect((await enter('Europe/Berlin')).status).toBe(303);
    expect(await zoneOf()).toBe('Europe/Berlin');
    await app.as(person).patch('/api/auth/me', { preferences: { timezone: 'UTC' } });
    await enter('Asia/Tokyo');
    expect(await zoneOf()).toBe('UTC');
  });
});

it('stands in the inbox of the person with the account, who joins or declines there, and of nobody else', async () => {
  const elsewhere = await buildTeam(app);
  await givePasswords(app);
  const path = `/app/teams/${team.team_id}`;
  await admin.post(`${path}/members`, { email: elsewhere.member.email, role: 'member' }, { from: path });
  const { invitation_id } = await invitations().first();
  const [invited, other] = [await signIn(app, elsewhere.member), await signIn(app, elsewhere.manager)];
  const { html } = await invited.get('/app/notifications');
  expect(told(html).slice(0, 2)).toEqual(['Ada Inviter', 'Harbor crew']);
  expect(html).not.toContain('No notifications.');
  expect((await other.get('/app/notifications')).html).not.toContain('Harbor crew');
  const declined = await invited.post(`/app/invitations/${invitation_id}/decline`, {}, { from: '/app/notifications' });
  expect(declined.status).toBe(303);
  expect((await invited.get('/app/notifications')).html).toContain('No notifications.');
});

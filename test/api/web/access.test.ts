import { Authenticator, buildAccount, buildTwoFactorAccount, mailedCode, mailsTo, PASSWORD } from '../../factories/accounts.js';
import { buildProject, buildTask, buildTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, openBrowser, signIn } from './browser.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ BASE_URL: 'http://localhost' });
});
afterAll(() => app.close());

const location = (answer: { headers: Headers }): string | null => answer.headers.get('location');
const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.get('/app')).status === 200;
const NEW_PASSWORD = 'another fine passphrase';

/** Past the password, before the challenge. */
async function challenge(email: string, next = '/app', browser = openBrowser(app)): Promise<Browser> {
  await browser.post('/app/sign-in', { email, password: PASSWORD, next });
  return browser;
}

describe('signing up', () => {
  const start = async (email: string, browser = openBrowser(app)) => {
    const answer = await browser.post('/app/sign-up', { name: 'Nora New', email });
    return { browser, answer };
  };
  const path = '/app/sign-up/code';

  it('takes name and address, the mailed code, a password; then one is in, on a trusted browser', async () => {
    const email = 'nora@test.example';
    const { browser, answer } = await start(email);
    expect(location(answer)).toBe(path);
    const wrong = await browser.post(path, { code: '000000', password: NEW_PASSWORD });
    expect([wrong.status, wrong.html.includes('Incorrect or expired code.')]).toEqual([401, true]);
    const short = await browser.post(path, { code: '000000', password: 'short' });
    expect([short.status, short.html.includes('At least 12 characters')]).toEqual([422, true]);
    const done = await browser.post(path, { code: await mailedCode(app, { email }), password: NEW_PASSWORD });
    expect(location(done)).toBe('/app');
    expect((await browser.get('/app')).html).toContain('Hello Nora');
    const device = browser.cookies.get('assent-device') as string;
    const again = openBrowser(app, new Map([['assent-device', device]]));
    await again.post('/app/sign-in', { email, password: NEW_PASSWORD });
    expect(await isSignedIn(again)).toBe(true);
    const elsewhere = await openBrowser(app).post('/app/sign-in', { email, password: NEW_PASSWORD });
    expect(location(elsewhere)).toBe('/app/sign-in/mailed-code');
  });

  it('looks the same for an address that has an account', async () => {
    const { email } = await buildAccount(app);
    const [known, fresh] = [await start(email), await start('fresh@test.example')];
    expect([known.answer.status, location(known.answer)]).toEqual([fresh.answer.status, location(fresh.answer)]);
    const pages = await Promise.all([known, fresh].map(({ browser }) => browser.get(path)));
    expect(pages[0]?.html.replaceAll(email, '').replace(/_csrf" value="[^"]+/g, '')).toBe(
      pages[1]?.html.replaceAll('fresh@test.example', '').replace(/_csrf" value="[^"]+/g, ''),
    );
  });

  it('the step before goes with one browser only, and cannot be made up', async () => {
    const { browser } = await start('moved@test.example');
    const stolen = browser.cookies.get('assent-step') as string;
    for (const step of [stolen, 'x', Buffer.from('{"kind":"sign-up"}').toString('base64url')]) {
      const other = openBrowser(app, new Map([['assent-step', step]]));
      expect(location(await other.get(path))).toBe('/app/sign-up');
    }
  });

  it('is refused to bad names and addresses, beside the form', async () => {
    const answer = await openBrowser(app).post('/app/sign-up', { name: ' ', email: 'no address' });
    expect(answer.status).toBe(422);
    expect(answer.html).toContain('Must be an email address');
    expect(answer.html).toContain('value="no address"');
  });
});

describe('challenges', () => {
  it('two factors: no session before the code; where one wanted to go comes after it', async () => {
    const account = await buildTwoFactorAccount(app);
    const browser = await challenge(account.email, '/app/approvals');
    expect(browser.cookies.has('assent-session')).toBe(false);
    expect(await isSignedIn(browser)).toBe(false);
    const path = '/app/sign-in/two-factor';
    const wrong = await browser.post(path, { code: '000000' });
    expect([wrong.status, wrong.html.includes('Incorrect or expired code.')]).toEqual([401, true]);
    const right = await browser.post(path, { code: account.authenticator.code() });
    expect(location(right)).toBe('/app/approvals');
    expect(browser.cookies.has('assent-step')).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
    const other = await challenge(account.email);
    expect(location(await other.post(path, { code: account.recovery[0] as string }))).toBe('/app');
  });

  it('a mailed code on an untrusted browser; another one voids it; trust spares it the next time', async () => {
    const { email } = await buildAccount(app, { login_otp_exempt: false });
    const browser = await challenge(email);
    const path = '/app/sign-in/mailed-code';
    const first = await mailedCode(app, { email });
    await browser.post(`${path}/resend`, {}, { from: path });
    expect((await browser.post(path, { code: first })).status).toBe(401);
    await browser.post(path, { code: await mailedCode(app, { email }), trust_device: 'on' });
    expect(await isSignedIn(browser)).toBe(true);
    await browser.post('/app/sign-out', {}, { from: '/app' });
    await challenge(email, '/app', browser);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('without the step before there is no challenge', async () => {
    for (const path of ['/app/sign-in/two-factor', '/app/sign-in/mailed-code']) {
      const browser = openBrowser(app);
      expect(location(await browser.get(path))).toBe('/app/sign-in');
      expect(location(await browser.post(path, { code: '123456' }, { from: '/app/sign-in' }))).toBe('/app/sign-in');
    }
  });

  it('the password goes with the browser sealed, and is on no page', async () => {
    const { email } = await buildTwoFactorAccount(app);
    const browser = await challenge(email);
    const step = Buffer.from(browser.cookies.get('assent-step') as string, 'base64url').toString('latin1');
    expect(step).not.toContain(PASSWORD);
    expect((await browser.get('/app/sign-in/two-factor')).html).not.toContain(PASSWORD);
    expect(browser.cookies.get('assent-step')).toMatch(/^[\w-]+$/);
  });
});

describe('passwords', () => {
  it('forgotten: a mailed code sets a new one and ends every session', async () => {
    const account = await buildAccount(app);
    const elsewhere = await signIn(app, account);
    const browser = openBrowser(app);
    await browser.post('/app/password/forgotten', { email: account.email });
    const page = await browser.get('/app/password/reset');
    expect(page.html).toContain(`value="${account.email}"`);
    const fields = { email: account.email, code: '000000', new_password: NEW_PASSWORD };
    expect((await browser.post('/app/password/reset', fields)).status).toBe(401);
    const done = await browser.post('/app/password/reset', { ...fields, code: await mailedCode(app, account) });
    expect(location(done)).toBe('/app/sign-in');
    expect(await isSignedIn(elsewhere)).toBe(false);
    expect(location(await browser.post('/app/sign-in', { email: account.email, password: NEW_PASSWORD }))).toBe('/app');
  });

  it('forgotten looks the same for an address without an account', async () => {
    const answer = await openBrowser(app).post('/app/password/forgotten', { email: 'nobody@test.example' });
    expect(location(answer)).toBe('/app/password/reset');
  });

  it('changed: this session goes on, the others end', async () => {
    const account = await buildAccount(app);
    const [here, there] = [await signIn(app, account), await signIn(app, account)];
    const path = '/app/account/security/password';
    const from = { from: '/app/account/security' };
    const wrong = await here.post(path, { current_password: 'wrong', new_password: NEW_PASSWORD }, from);
    expect([wrong.status, wrong.html.includes('Incorrect password or code')]).toEqual([403, true]);
    await here.post(path, { current_password: PASSWORD, new_password: NEW_PASSWORD }, from);
    expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, false]);
  });
});

describe('two-factor sign-in', () => {
  it('is turned on with the app’s code, which a wrong one leaves off; recovery codes show once; then off again', async () => {
    const account = await buildAccount(app);
    const browser = await signIn(app, account);
    const path = '/app/account/security/two-factor';
    const from = { from: '/app/account/security' };
    expect((await browser.post(path, { password: 'wrong' }, from)).status).toBe(403);
    const { html } = await browser.post(path, { password: PASSWORD }, from);
    expect(html).toContain('<svg xmlns');
    expect(html).not.toContain('style=');
    const [secret, otpauth_url] = ['secret', 'otpauth_url'].map(
      (name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1]?.replaceAll('&amp;', '&') as string,
    ) as [string, string];
    const phone = new Authenticator(secret);
    const wrong = await browser.post(`${path}/activate`, { code: '000000', secret, otpauth_url }, from);
    expect([wrong.status, wrong.html.includes('Incorrect code'), wrong.html.includes('<svg xmlns')]).toEqual([400, true, true]);
    const on = await browser.post(`${path}/activate`, { code: phone.code(), secret, otpauth_url }, from);
    const codes = /id="codes">([^<]+)</.exec(on.html)?.[1]?.trim().split('\n') as string[];
    expect(codes).toHaveLength(10);
    expect((await browser.get('/app/account/security')).html).toContain('10 recovery codes left');
    expect((await browser.get('/app/account/security')).html).not.toContain(codes[0]);
    const fresh = await browser.post(`${path}/codes`, { password: PASSWORD, code: phone.code(1) }, from);
    expect(fresh.html).not.toContain(codes[0]);
    const newCode = /id="codes">\s*(\S+)/.exec(fresh.html)?.[1] as string;
    expect((await browser.post(`${path}/disable`, { password: PASSWORD, code: codes[0] as string }, from)).status).toBe(403);
    expect(location(await browser.post(`${path}/disable`, { password: PASSWORD, code: newCode }, from))).toBe(
      '/app/account/security',
    );
  });

  it('draws no code that the form brings in from elsewhere', async () => {
    const browser = await signIn(app, await buildAccount(app));
    const path = '/app/account/security/two-factor/activate';
    const fields = { code: '1', secret: '<script>', otpauth_url: 'https://evil.example' };
    const answer = await browser.post(path, fields, { from: '/app/account/security' });
    expect(answer.html).not.toContain('<svg xmlns');
    expect(answer.html).not.toContain('evil.example');
  });
});

describe('sessions and devices', () => {
  it('are listed and ended; a device is forgotten; those of other users are not found', async () => {
    const account = await buildAccount(app);
    const [here, there] = [await signIn(app, account), await signIn(app, account)];
    const path = '/app/account/sessions';
    const end = new RegExp(`${path}/[0-9a-f-]+/end`).exec((await here.get(path)).html)?.[0] as string;
    const stranger = await signIn(app, await buildAccount(app));
    await stranger.post(end, {}, { from: path });
    expect(await isSignedIn(there)).toBe(true);
    await here.post(end, {}, { from: path });
    expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, false]);
  });

  it('signing out ends the session itself, not only the cookie', async () => {
    const browser = await signIn(app, await buildAccount(app));
    const kept = new Map(browser.cookies);
    await browser.post('/app/sign-out', {}, { from: '/app' });
    expect(await isSignedIn(openBrowser(app, kept))).toBe(false);
  });
});

describe('the profile', () => {
  it('takes the time zone of the browser at the first sign-in, if that is one; the next one changes nothing', async () => {
    const account = await buildAccount(app);
    await app.services.db('users').where({ user_id: account.user_id }).update({ preferences: '{}' });
    const zoneAfter = async (timezone: string) => {
      await openBrowser(app).post('/app/sign-in', { email: account.email, password: PASSWORD, timezone });
      return (await app.services.db('users').where({ user_id: account.user_id }).first()).preferences.timezone;
    };
    expect(await zoneAfter('Mars/Base')).toBeUndefined();
    expect(await zoneAfter('')).toBeUndefined();
    expect(await zoneAfter('America/Chicago')).toBe('America/Chicago');
    expect(await zoneAfter('Europe/Berlin')).toBe('America/Chicago');
  });

  it('is saved with preferences, which times then follow', async () => {
    const account = await buildAccount(app);
    const browser = await signIn(app, account);
    const fields = { name: 'Ada Marsh', display_name: 'Ada', username: `ada.${account.user_id.slice(-6)}` };
    const preferences = { timezone: 'Europe/Berlin', locale: 'de', week_start: 'sunday', theme: 'dark', default_team_id: '' };
    expect(location(await browser.post('/app/account', { ...fields, ...preferences }))).toBe('/app/account');
    const { html } = await browser.get('/app/account');
    expect(html).toContain('<option selected>Europe/Berlin</option>');
    const bad = await browser.post('/app/account', { ...fields, ...preferences, timezone: 'Mars', username: 'no way' });
    expect([bad.status, bad.html.includes('value="no way"')]).toEqual([422, true]);
  });
});

describe('a locked account', () => {
  it('is unlocked by the mailed link and a button; opening the link alone does nothing', async () => {
    const small = await startApp({ LOCKOUT_FAILURES: '3' });
    const account = await buildAccount(small);
    const wrong = { email: account.email, password: 'wrong wrong wrong' };
    for (let attempts = 0; attempts < 3; attempts += 1) await openBrowser(small).post('/app/sign-in', wrong);
    const right = () => openBrowser(small).post('/app/sign-in', { email: account.email, password: PASSWORD });
    expect((await right()).status).toBe(401);
    const text = (await mailsTo(small, account))[0]?.text ?? '';
    const link = /\/app\/unlock\?token=([\w-]+)/.exec(text);
    const browser = openBrowser(small);
    await browser.get(link?.[0] as string);
    expect((await right()).status).toBe(401);
    const done = await browser.post('/app/unlock', { token: link?.[1] as string }, { from: link?.[0] as string });
    expect(location(done)).toBe('/app/sign-in');
    expect((await right()).status).toBe(303);
    expect((await browser.post('/app/unlock', { token: link?.[1] as string }, { from: '/app/sign-in' })).status).toBe(400);
    await small.close();
  });
});

describe('administration', () => {
  const path = '/app/admin';

  it('is for administrators of the installation, who find, suspend and reinstate', async () => {
    const [root, person] = [await buildAccount(app, { role: 'admin' }), await buildAccount(app)];
    const [admin, browser] = [await signIn(app, root), await signIn(app, person)];
    expect((await browser.get(path)).status).toBe(403);
    expect((await browser.get('/app')).html).not.toContain(`href="${path}"`);
    expect((await admin.get(`${path}?q=${person.email}`)).html).toContain(person.email);
    const user = `${path}/users/${person.user_id}`;
    await admin.post(`${user}/suspend`, { reason: 'Lost laptop' }, { from: path });
    expect(await isSignedIn(browser)).toBe(false);
    await admin.post(`${user}/reinstate`, {}, { from: path });
    expect(await isSignedIn(await signIn(app, person))).toBe(true);
  });

  it('end a lock, and deprovision a user, with who takes over', async () => {
    const [root, person, heir] = [await buildAccount(app, { role: 'admin' }), await buildAccount(app), await buildAccount(app)];
    const admin = await signIn(app, root);
    const user = `${path}/users/${person.user_id}`;
    await app.services.db('login_attempts').insert({
      subject: `mail ${person.email}`,
      attempts: 20,
      locked_until: app.services.db.raw("now() + interval '5 minutes'"),
    });
    expect((await admin.get(`${path}?q=${person.email}`)).html).toContain(`${user}/unlock`);
    await admin.post(`${user}/unlock`, {}, { from: path });
    expect((await admin.get(`${path}?q=${person.email}`)).html).not.toContain(`${user}/unlock`);
    const form = `${user}/deprovision`;
    const fields = { reason: 'Left', confirm: person.email };
    const nobody = await admin.post(form, { ...fields, successor: 'nobody@test.example' });
    expect([nobody.status, nobody.html.includes('value="nobody@test.example"')]).toEqual([400, true]);
    const job = location(await admin.post(form, { ...fields, successor: heir.email })) as string;
    const followed = (await admin.get(job)).html;
    for (const words of ['In progress', person.email]) expect(followed).toContain(words);
    const row = await app.services.db('users').where({ user_id: person.user_id }).first();
    expect(row.status).toBe('deprovisioned');
    const again = (await admin.get(form)).html;
    expect([again.includes(job), again.includes('name="confirm"')]).toEqual([true, false]);
  });

  it('deprovision: the page names the person and what they lose, and takes the typed address only', async () => {
    const team = await buildTeam(app);
    await buildTask(app, team, await buildProject(app, team), { assigned_to: team.admin.user_id });
    const admin = await signIn(app, await buildAccount(app, { role: 'admin' }));
    const form = `${path}/users/${team.admin.user_id}/deprovision`;
    const { html } = await admin.get(form);
    for (const words of [
      team.admin.email,
      '<dt>Teams</dt><dd><strong>1',
      '<dt>Open tasks</dt><dd><strong>1',
      'The only admin of',
    ])
      expect(html).toContain(words);
    const status = async () => (await app.services.db('users').where({ user_id: team.admin.user_id }).first()).status;
    const fields = { reason: 'Left', successor: team.manager.email };
    for (const confirm of ['', team.manager.email, `${team.admin.email}.example`]) {
      const refused = await admin.post(form, { ...fields, confirm });
      expect([refused.status, refused.html.includes(`Enter ${team.admin.email} to confirm`)]).toEqual([422, true]);
    }
    expect(await status()).toBe('active');
    const done = await admin.post(form, { ...fields, confirm: ` ${team.admin.email.toUpperCase()} ` });
    expect([done.status, await status()]).toEqual([303, 'deprovisioned']);
    expect((await admin.get(`${path}/users/0197a000-0000-7000-8000-000000000001/deprovision`)).status).toBe(404);
  });

  it('impersonating shows a banner on every page, hides the account’s security, and ends by one button', async () => {
    const [root, person] = [await buildAccount(app, { role: 'admin' }), await buildAccount(app, { display_name: 'Uma Rao' })];
    const admin = await signIn(app, root);
    const user = `${path}/users/${person.user_id}`;
    await admin.post(`${user}/impersonate`, { reason: 'too short' }, { from: path });
    expect((await admin.get('/app')).html).not.toContain('You are impersonating');
    expect(
      location(await admin.post(`${user}/impersonate`, { reason: 'Ticket 4711: cannot see a project' }, { from: path })),
    ).toBe('/app');
    const home = await admin.get('/app');
    expect(home.html).toMatch(/You are impersonating <strong>Uma Rao<\/strong>/);
    expect(home.headers.get('x-impersonated-by')).toBe(root.user_id);
    for (const closed of [path, '/app/account/security']) expect((await admin.get(closed)).status).toBe(403);
    const back = await admin.post('/app/stop-impersonating', {}, { from: '/app' });
    expect(location(back)).toBe(path);
    expect((await admin.get(path)).status).toBe(200);
    expect((await admin.get('/app')).html).not.toContain('You are impersonating');
  });

  it('when the half hour is over the administrator is back by themselves', async () => {
    const [root, person] = [await buildAccount(app, { role: 'admin' }), await buildAccount(app)];
    const admin = await signIn(app, root);
    await admin.post(`${path}/users/${person.user_id}/impersonate`, { reason: 'Ticket 4711: look' }, { from: path });
    await app.services
      .db('sessions')
      .where({ user_id: person.user_id })
      .update({ expires_at: new Date(0) });
    expect((await admin.get(path)).status).toBe(200);
    expect(admin.cookies.has('assent-own')).toBe(false);
  });
});

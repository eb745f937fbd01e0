import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { decodeJwt } from 'jose';
import { TRIGGER_TEXT, TRIGGERS } from '../../../api/automation/language/triggers.js';
import { type Ability, getRule } from '../../../api/platform/access/access.js';

import { icon } from '../../../api/web/icons.js';
import { SHORT_PATHS } from '../../../api/web/navigation/short-paths.js';
import { PAGES } from '../../../api/web/pages.js';
import { findPage } from '../../../api/web/server/find-page.js';
import { safePath } from '../../../api/web/server/safe-path.js';
import { PASSWORD } from '../../factories/accounts.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../factories/people.js';
import { buildRun, openNextGate } from '../../factories/runs.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, buildVisitor, readCsrf, gateForm, givePasswords, openBrowser, signIn as signInTo } from './browser.js';

let app: TestApp;
let team: TestTeam;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
  team = await buildTeam(app);
  await givePasswords(app);
});
afterAll(() => app.close());

const personWithPassword = (options = {}) => buildVisitor(app, options);
const signIn = (person: Person, browser?: Browser) => signInTo(app, person, browser);

const location = (answer: { headers: Headers }): string | null => answer.headers.get('location');
const example = (path: string): string =>
  path.replace('/app/:task_name', '/app/HAR-1').replace(/:\w+/g, '0197a000-0000-7000-8000-000000000001');

describe('every page', () => {
  it.each(PAGES.filter(({ method }) => method === 'get').map((page) => [page.path, page] as const))(
    'GET %s has the headers that keep a page safe',
    async (path) => {
      const answer = await openBrowser(app).get(example(path));
      expect(answer.headers.get('content-security-policy')).toBe(
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(answer.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  const guarded = PAGES.filter(({ access }) => access !== 'anyone' && access !== 'visitor');
  it.each(guarded.map((page) => [page.method.toUpperCase(), page.path] as const))(
    '%s %s sends a stranger to sign in',
    async (method, path) => {
      const stranger = openBrowser(app);
      if (method === 'GET') {
        const answer = await stranger.get(example(path));
        expect(answer.status).toBe(303);
        const wanted = path === '/app' ? '/app/sign-in' : `/app/sign-in?next=${encodeURIComponent(example(path))}`;
        expect(answer.headers.get('location')).toBe(wanted);
        return;
      }
      const answer = await stranger.post(example(path), {}, { from: '/app/sign-in' });
      expect(answer.status).toBe(401);
      expect(answer.html).toContain('You are signed out');
    },
  );

  it.each(PAGES.filter(({ method, access }) => method === 'post' && access !== 'visitor').map((page) => [page.path] as const))(
    'POST %s refuses a form without its token',
    async (path) => {
      const browser = await signIn(await personWithPassword({ role: 'admin' }));
      expect((await browser.post(example(path), {}, { csrf: null })).status).toBe(403);
    },
  );

  const closed = guarded.filter(({ access }) => {
    const { impersonated, instanceAdmin } = getRule(access as Ability);
    return impersonated === false || instanceAdmin;
  });
  it.each(closed.map((page) => [page.method.toUpperCase(), page.path] as const))(
    '%s %s is closed to an impersonating administrator',
    async (method, path) => {
      const [person, root] = [await personWithPassword(), await personWithPassword({ role: 'admin' })];
      const browser = await signIn(root);
      const start = `/app/admin/users/${person.user_id}/impersonate`;
      await browser.post(start, { reason: 'Ticket 4711: look' }, { from: '/app/admin' });
      expect((await browser.get('/app')).html).toContain('You are impersonating');
      const answer =
        method === 'GET' ? await browser.get(example(path)) : await browser.post(example(path), {}, { from: '/app' });
      expect(answer.status).toBe(403);
    },
  );

  it('an unknown address is a page too, and the API keeps its envelope', async () => {
    const answer = await openBrowser(app).get('/app/nothing');
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toContain('text/html');
    expect((await app.as().get('/api/nothing')).body.error_code).toBe('RESOURCE_NOT_FOUND');
    expect((await openBrowser(app).get('/App')).headers.get('content-type')).toContain('json');
  });

  it('a known address takes no other method', async () => {
    const answer = await openBrowser(app).post('/app/approvals', {}, { csrf: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  });

  it('leads from / to the app', async () => {
    const answer = await openBrowser(app).get('/');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/app']);
  });

  it.each(Object.entries(SHORT_PATHS))('leads from %s to %s, for all and for ever', async (path, to) => {
    for (const at of [path, `${path}?live`]) {
      const answer = await openBrowser(app).get(at);
      expect([answer.status, answer.headers.get('location')]).toEqual([301, to]);
    }
    expect(findPage(PAGES, 'GET', to.split('?')[0] as string).page.method).toBe('get');
    expect((await openBrowser(app).post(path, {}, { csrf: null })).status).toBe(404);
    expect((await openBrowser(app).get(`${path}x/constructor`)).status).toBe(404);
  });
});

describe('files', () => {
  it('the build has every template and file beside the code', () => {
    const root = resolve(import.meta.dirname, '../../..');
    const beside = (base: string) =>
      ['views', 'assets'].flatMap((dir) =>
        readdirSync(join(root, base, 'api/web', dir), { recursive: true }).map((name) => join(dir, String(name))),
      );
    expect(beside('dist').toSorted()).toEqual(beside('.').toSorted());
    expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain('cp -r api/web/views api/web/assets dist/api/web/');
  });

  it('keep for ever under an address made of their content; no other path reads the disk', async () => {
    const { html } = await openBrowser(app).get('/app/sign-in');
    const addresses = [...html.matchAll(/(?:href|src)="(\/app\/assets\/[^"]+)"/g)].map(([, address]) => address as string);
    expect(new Set(addresses.map((address) => address.replace(/\.[0-9a-f]{16}\./, '.')))).toEqual(
      new Set(
        [
          'logo.svg',
          'pico.css',
          'app.css',
          'htmx.js',
          'app.js',
          'keys.js',
          'chooser.js',
          'quick.js',
          'rows.js',
          'peek.js',
          'instant.js',
          'decisions.js',
          'ticks.js',
          'undo.js',
          'kept.js',
        ].map((name) => `/app/assets/${name}`),
      ),
    );
    for (const address of addresses) {
      const file = await openBrowser(app).get(address);
      expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
    }
    for (const path of ['/app/assets/app.css', '/app/assets/../mount.ts', '/app/assets/%2e%2e/mount.ts']) {
      expect((await openBrowser(app).get(path)).status).not.toBe(200);
    }
  });

  it('pages name no other host and hold no inline script or style', async () => {
    const browser = await signIn(team.manager);
    for (const path of ['/app/sign-in', '/app', '/app/approvals']) {
      const { html } = await browser.get(path);
      expect(html).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!\/)/);
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style| style=| on\w+=/);
    }
  });
});

describe('signing in', () => {
  it('opens a session of the API behind a cookie that scripts cannot read', async () => {
    const person = await personWithPassword();
    const browser = openBrowser(app);
    const answer = await browser.post('/app/sign-in', { email: person.email, password: PASSWORD });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/app']);
    const line = browser.set().find((one) => one.startsWith('assent-session='));
    expect(line).toMatch(/^assent-session=[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);
    expect((await browser.get('/app')).html).toContain(person.email);
    const sessions = await app.services.db('sessions').where({ user_id: person.user_id });
    expect(sessions.map(({ session_id }) => session_id)).toContain(
      decodeJwt(browser.cookies.get('assent-session') as string)['sid'],
    );
  });

  it('the cookie is no bearer token, and a bearer token no cookie', async () => {
    const person = await personWithPassword();
    const browser = await signIn(person);
    expect((await app.as(browser.cookies.get('assent-session')).get('/api/auth/me')).status).toBe(401);
    const other = openBrowser(app, new Map([['assent-session', person.token]]));
    expect((await other.get('/app')).headers.get('location')).toBe('/app/sign-in');
  });

  it('says the same for a wrong password and an unknown address, and shows no password again', async () => {
    const person = await personWithPassword();
    const answers = await Promise.all(
      [person.email, 'nobody@test.example'].map((email) =>
        openBrowser(app).post('/app/sign-in', { email, password: 'wrong wrong wrong' }),
      ),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.html).toContain('Invalid credentials');
      expect(answer.html).not.toContain('wrong wrong wrong');
    }
  });

  it('a list where one value belongs is refused', async () => {
    const person = await personWithPassword();
    const answer = await openBrowser(app).post('/app/sign-in', { email: [person.email, 'b@test.example'], password: PASSWORD });
    expect(answer.status).toBe(422);
  });

  it('a session that was planted before is not the one after (fixation)', async () => {
    const attacker = await signIn(await personWithPassword());
    const planted = attacker.cookies.get('assent-session') as string;
    const visitor = openBrowser(app);
    await visitor.get('/app/sign-in');
    const before = visitor.cookies.get('assent-visitor') as string;
    const victim = await signIn(await personWithPassword(), visitor);
    expect(victim.cookies.get('assent-session')).not.toBe(planted);
    expect(victim.cookies.has('assent-visitor')).toBe(false);
    expect(before).toMatch(/^[\w-]{43}$/);
    const again = await signIn(await personWithPassword());
    expect(decodeJwt(again.cookies.get('assent-session') as string)['sid']).not.toBe(decodeJwt(planted)['sid']);
  });

  it('signing out takes the cookie', async () => {
    const browser = await signIn(await personWithPassword());
    const answer = await browser.post('/app/sign-out', {}, { from: '/app' });
    expect(answer.headers.get('location')).toBe('/app/sign-in');
    expect(browser.cookies.has('assent-session')).toBe(false);
  });

  it('an ended session and a suspended person are strangers on the next request', async () => {
    const person = await personWithPassword();
    const browser = await signIn(person);
    await app.services.db('users').where({ user_id: person.user_id }).update({ status: 'suspended' });
    expect((await browser.get('/app')).headers.get('location')).toBe('/app/sign-in');
    expect(browser.cookies.has('assent-session')).toBe(false);
  });

  it('is limited like the API’s own route, by one count', async () => {
    const limited = await startApp({ LOGIN_OTP: 'off', RATE_LIMIT_LOGIN: '2' });
    const browser = openBrowser(limited);
    const wrong = { email: 'nobody@test.example', password: 'wrong' };
    await limited.as().post('/api/auth/login', wrong);
    expect((await browser.post('/app/sign-in', wrong)).status).toBe(401);
    const third = await browser.post('/app/sign-in', wrong);
    expect(third.status).toBe(429);
    expect(third.html).toMatch(/At most 2 requests a minute; try again in \d+ seconds?/);
    await limited.close();
  });
});

describe('pages that look for news', () => {
  const script = { 'hx-request': 'true' };

  it('get the page itself; once the session is over, word to sign in, not a page to swap in', async () => {
    const browser = await signIn(await personWithPassword());
    expect((await browser.get('/app/approvals?live', script)).html).toContain('id="news"');
    await browser.post('/app/sign-out', {}, { from: '/app' });
    const answer = await browser.get('/app/approvals?live', script);
    expect([answer.status, answer.headers.get('hx-redirect'), answer.html]).toEqual([
      200,
      '/app/sign-in?next=%2Fapp%2Fapprovals',
      '',
    ]);
  });
});

describe('the cookie in use', () => {
  afterEach(() => import.meta.jest.useRealTimers());

  it('is written anew when it grows old, but not by a page that looks for news by itself', async () => {
    const browser = await signIn(await personWithPassword());
    import.meta.jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'queueMicrotask'],
      now: Date.now() + 6 * 60_000,
    });
    await browser.get('/app/approvals?live');
    expect(browser.set().some((line) => line.startsWith('assent-session='))).toBe(false);
    await browser.get('/app/approvals');
    expect(browser.set().some((line) => line.startsWith('assent-session='))).toBe(true);
  });

  it('ends with the time that a session may stay idle', async () => {
    const browser = await signIn(await personWithPassword());
    import.meta.jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'queueMicrotask'],
      now: Date.now() + 12 * 3_600_000 + 10_000,
    });
    expect((await browser.get('/app')).headers.get('location')).toBe('/app/sign-in');
  });
});

describe('the offer to undo a change', () => {
  afterEach(() => import.meta.jest.useRealTimers());

  it('holds for ten minutes, whatever the age of the session', async () => {
    const { task_id } = await buildTask(app, team, await buildProject(app, team));
    const path = `/app/items/${task_id}`;
    const browser = await signIn(team.member);
    await browser.post(`${path}/task`, { version: '1', status: 'done' });
    const undo = /name="undo" value="([^"]+)"/.exec((await browser.get(path)).html)?.[1] as string;
    const pressUndo = async () => {
      await browser.post('/app/undo', { undo, back: path }, { from: path });
      return (await browser.get(path)).html;
    };
    import.meta.jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'queueMicrotask'],
      now: Date.now() + 10 * 60_000,
    });
    expect(await pressUndo()).toContain('Nothing was undone. A change can be undone for 10 minutes.');
    const status = async () => (await app.services.db('tasks').where({ task_id }).first('status')).status as string;
    expect(await status()).toBe('done');
    import.meta.jest.useRealTimers();
    expect(await pressUndo()).toContain('The change was undone');
    expect(await status()).toBe('todo');
  });
});

describe('cookies over TLS', () => {
  it('are for this host alone', async () => {
    const secure = await startApp({ LOGIN_OTP: 'off', BASE_URL: 'https://assent.example' });
    const browser = openBrowser(secure);
    const { headers } = await browser.get('/app/sign-in');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(browser.set()).toEqual([
      expect.stringMatching(/^__Host-assent-visitor=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/),
    ]);
    await secure.close();
  });
});

describe('forms', () => {
  it('count with the token of their own session only', async () => {
    const [one, other] = [await signIn(await personWithPassword()), await signIn(await personWithPassword())];
    const foreign = readCsrf((await other.get('/app')).html) as string;
    expect((await one.post('/app/sign-out', {}, { csrf: foreign })).status).toBe(403);
    expect((await one.post('/app/sign-out', { _csrf: ['a', 'b'] }, { csrf: null })).status).toBe(403);
    expect((await one.get('/app')).status).toBe(200);
  });

  it('a token from before signing in does not count after it', async () => {
    const browser = openBrowser(app);
    const early = readCsrf((await browser.get('/app/sign-in')).html) as string;
    await signIn(await personWithPassword(), browser);
    expect((await browser.post('/app/sign-out', {}, { csrf: early })).status).toBe(403);
  });

  it.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['no origin at all, as sandboxed frames send', { origin: 'null' }],
    ['another site by the browser’s word', { 'sec-fetch-site': 'cross-site' }],
    ['a sister host', { 'sec-fetch-site': 'same-site' }],
  ])('from %s are refused even with the right token', async (_name, headers) => {
    const browser = await signIn(await personWithPassword());
    expect((await browser.post('/app/sign-out', {}, { from: '/app', headers: headers as Record<string, string> })).status).toBe(
      403,
    );
  });

  it('from our own pages are taken', async () => {
    const browser = await signIn(await personWithPassword());
    const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' };
    expect((await browser.post('/app/sign-out', {}, { from: '/app', headers })).status).toBe(303);
  });

  it('of another kind or size are refused', async () => {
    const browser = await signIn(await personWithPassword());
    const csrf = readCsrf((await browser.get('/app')).html) as string;
    const plain = await browser.post('/app/sign-out', {}, { csrf, headers: { 'content-type': 'text/plain' } });
    expect(plain.status).toBe(415);
    expect((await browser.post('/app/sign-out', { filler: 'x'.repeat(70_000) }, { csrf })).status).toBe(413);
  });
});

describe('where people are sent', () => {
  const hostile = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/app//evil.example/..//',
    '\\\\evil.example',
    'javascript:alert(1)',
    '/app/../../evil',
    '/app/..//evil.example',
    '/app\t/x',
    '/app/\n/x',
    ' /app',
    '/apples',
    '/app@evil.example',
    '/app.evil.example',
    '/api/auth/me',
    'http:/app',
    '/app/%0d%0aSet-Cookie:x',
    `/app/${'x'.repeat(600)}`,
  ];
  it.each(hostile)('%j stays on this host', (wanted) => {
    const path = safePath(wanted);
    const url = new URL(path, 'https://here.example');
    expect(url.origin).toBe('https://here.example');
    expect(path === '/app' || /^\/app[/?]/.test(path)).toBe(true);
    expect(path.startsWith('//')).toBe(false);
  });

  it('after signing in: to the page they wanted, or home', async () => {
    const person = await personWithPassword();
    const to = async (next: string) =>
      (await openBrowser(app).post('/app/sign-in', { email: person.email, password: PASSWORD, next })).headers.get('location');
    expect(await to('/app/approvals')).toBe('/app/approvals');
    expect(await to('/app/runs/0197a000-0000-7000-8000-000000000001?x=1')).toBe(
      '/app/runs/0197a000-0000-7000-8000-000000000001?x=1',
    );
    for (const next of ['https://evil.example', '//evil.example', '/\\evil.example']) expect(await to(next)).toBe('/app');
  });
});

describe('approvals', () => {
  it('show what waits, and one click opens the gate', async () => {
    const run = await buildRun(app, team);
    const browser = await signIn(team.manager);
    const { html: queue } = await browser.get('/app/approvals');
    expect(queue).toContain(`/app/runs/${run.run_id}/approve`);
    const answer = await browser.post(
      `/app/runs/${run.run_id}/approve`,
      { ...gateForm(queue, run.run_id), back: '/app/approvals' },
      { from: '/app/approvals' },
    );
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/app/approvals']);
    const shown = await browser.get('/app/approvals');
    expect(shown.html).toContain('Approved. The run continues.');
    expect((await browser.get('/app/approvals')).html).not.toContain('Approved. The run continues.');
    const gate = await app.services.db('gates').where({ run_id: run.run_id }).first();
    expect(gate).toMatchObject({ decision: 'approved', decided_by: team.manager.user_id });
    const entry = await app.services.db('audit_entries').where({ entity_id: run.run_id, action: 'approve' }).first();
    expect(entry).toMatchObject({ user_id: team.manager.user_id, actor_type: 'user' });
  });

  it('name what would be done to what: two gates of one automation can be told apart', async () => {
    const actions = [
      { type: 'require_approval', params: { message: 'Close the task?' } },
      { type: 'set_task_status', name: 'Close the task', params: { task_id: '{{event.task.task_id}}', status: 'done' } },
    ];
    const { task_id } = await buildTask(app, team, await buildProject(app, team), { title: 'Bug of the cookie' });
    const merged = (pr_number: number, title: string) => ({
      event: JSON.stringify({ repo: 'acme/rocket', pr_number, title, task: { task_id, title: 'Another title' } }),
    });
    const first = await buildRun(app, team, { actions, fields: merged(41, 'Harden the <b>cookie</b>') });
    const { automation_id } = first;
    await buildRun(app, team, { automation: { automation_id }, fields: merged(42, 'y'.repeat(5_000)) });
    await buildRun(app, team, { automation: { automation_id }, fields: { event: JSON.stringify({ title: ['no', 'text'] }) } });
    const row = { user_id: team.admin.user_id, team_id: team.team_id, kind: 'approval_requested', message: 'Close the task?' };
    await app.services.db('notifications').insert({ ...row, run_id: first.run_id });
    const admin = await signIn(team.admin);
    const { html } = await admin.get('/app/approvals');
    const subject = 'acme/rocket #41 · Harden the &lt;b&gt;cookie&lt;/b&gt;';
    for (const words of [
      subject,
      '“<bdi>Bug of the cookie</bdi>”?',
      'Close the task (Change status) <bdi class="unseen"><strong>Bug of the cookie</strong></bdi>',
      `<del><bdi>To do</bdi></del> ${icon('to')}<span class="unseen">to</span> <bdi>Done</bdi>`,
      `href="/app/items/${task_id}"`,
      `#42 · ${'y'.repeat(159)}…`,
    ])
      expect(html).toContain(words);
    for (const path of ['/app', '/app/notifications']) expect((await admin.get(path)).html).toContain(subject);
    await app.services.db('automation_runs').where({ automation_id }).update({ status: 'cancelled', finished_at: new Date() });
  });

  it('the card says what would be done, to what, for whom and in whose name', async () => {
    const task = await buildTask(app, team, await buildProject(app, team), { title: 'Rotate the keys' });
    const actions = [
      { type: 'require_approval' },
      { type: 'add_comment', params: { task_id: task.task_id, content: 'For {{event.change.author}}' } },
      { type: 'add_comment', name: 'Say more', params: { task_id: task.task_id, content: 'Of {{event.none}}' } },
      { type: 'notify', params: { user_ids: [team.guest.user_id], message: 'By {{event.change.author}}' } },
      { type: 'http_request', params: { method: 'POST', url: 'https://example.com/hook', body: '{{secret:KEY}}' } },
    ];
    const event = JSON.stringify({ change: { author: 'Zoe <b>' }, ['__proto__']: { x: 1 } });
    const run = await buildRun(app, team, { actions, fields: { event } });
    const { html } = await (await signIn(team.manager)).get('/app/approvals');
    const card = html.slice(html.indexOf(`id="gate-${run.run_id}"`)).split('</article>')[0] ?? '';
    const [guest, creator] = [team.guest, team.member].map(({ email }) => email.split('@')[0]);
    for (const words of [
      `href="/app/items/${task.task_id}"`,
      'Comment on <span class="called">',
      `</span> <bdi><a href="/app/items/${task.task_id}"><strong>Rotate the keys</strong></a></bdi>`,
      '<dt>content</dt><dd><bdi>For Zoe &lt;b&gt;</bdi></dd>',
      'Say more (Comment on)',
      'Would be refused now: The event has no event.none',
      `<dt>to</dt><dd><bdi>${guest}</bdi></dd>`,
      '<dt>message</dt><dd><bdi>By Zoe &lt;b&gt;</bdi></dd>',
      '<dt>url</dt><dd><bdi>https://example.com/hook</bdi></dd>',
      '<dt>body</dt><dd><bdi>{{secret:KEY}}</bdi></dd>',
      'high risk',
      `in the name of <bdi>${creator}</bdi>`,
    ])
      expect(card).toContain(words);
    await app.services
      .db('automation_runs')
      .where({ run_id: run.run_id })
      .update({ status: 'cancelled', finished_at: new Date() });
  });

  it('a team’s page shows members how to create an automation, and the command’s body is accepted', async () => {
    const path = `/app/teams/${team.team_id}`;
    const { html } = await (await signIn(team.member)).get(path);
    const command =
      /<code id="create-by-api">([^]*?)<\/code>/.exec(html)?.[1]?.replaceAll('&quot;', '"').replaceAll('&#39;', "'") ?? '';
    expect(command).toMatch(/^curl -X POST 'http[^']+\/api\/automations'/);
    const body = JSON.parse(/-d '([^']+)'/.exec(command)?.[1] ?? '');
    expect((await app.as(team.member).post('/api/automations', body)).status).toBe(201);
    expect((await (await signIn(team.guest)).get(path)).html).not.toContain('create-by-api');
  });

  it('a rejection carries its reason to the run’s page', async () => {
    const run = await buildRun(app, team);
    const browser = await signIn(team.admin);
    const page = `/app/runs/${run.run_id}`;
    await browser.post(`${page}/reject`, { gate_index: '1', back: page, reason: 'Not on a Friday' }, { from: page });
    const { html } = await browser.get(page);
    expect(html).toContain('Not on a Friday');
    expect(html).toContain('Rejected. Staged actions will not run.');
  });

  it('shows an error to a user who may not decide, and changes nothing; nor does a second click', async () => {
    const run = await buildRun(app, team);
    const [guest, manager] = [await signIn(team.guest), await signIn(team.manager)];
    const path = `/app/runs/${run.run_id}/approve`;
    const seen = gateForm((await manager.get('/app/approvals')).html, run.run_id);
    await guest.post(path, seen, { from: '/app' });
    expect((await guest.get('/app/approvals')).html).toContain('Guests have read-only access');
    expect((await app.services.db('gates').where({ run_id: run.run_id }).first()).decision).toBeNull();
    await manager.post(path, { ...seen, gate_index: '0' }, { from: '/app' });
    expect((await app.services.db('gates').where({ run_id: run.run_id }).first()).decision).toBeNull();
    await manager.post(path, { ...seen, staged_hash: 'sha256:other' }, { from: '/app' });
    expect((await app.services.db('gates').where({ run_id: run.run_id }).first()).decision).toBeNull();
    await manager.post(path, seen, { from: '/app' });
    await manager.post(path, seen, { from: '/app' });
    expect((await manager.get('/app/approvals')).html).toContain('was approved by');
  });

  it('say who decides, and to who may not, why', async () => {
    const gate = { type: 'require_approval', params: { role: 'manager', allow_self_approval: false, required_approvals: 2 } };
    const run = await buildRun(app, team, { creator: team.manager, actions: [gate] });
    for (const path of ['/app/approvals', `/app/runs/${run.run_id}`]) {
      const shown = async (person: Person) => (await (await signIn(person)).get(path)).html;
      expect(await shown(team.guest)).toContain('Only a manager or an admin of the team can decide.');
      const own = await shown(team.manager);
      expect(own).toContain('2 approvals, each from a manager or an admin');
      expect(own).toContain('You created the automation, wrote this version or started the run; someone else must approve it.');
      expect(await shown(team.admin)).not.toContain('Only a manager or an admin');
    }
    await app.as(team.admin).post(`/api/automations/runs/${run.run_id}/reject`);
  });

  it('offers no button to a user who approved while other approvals are missing', async () => {
    const params = { required_approvals: 2, message: 'Both of you?' };
    const run = await buildRun(app, team, { actions: [{ type: 'require_approval', params }] });
    const path = `/app/runs/${run.run_id}`;
    const manager = await signIn(team.manager);
    const waiting = async () => Number(/class="count">(\d+)/.exec((await manager.get('/app')).html)?.[1] ?? 0);
    const before = await waiting();
    await manager.post(`${path}/approve`, gateForm((await manager.get(path)).html, run.run_id), { from: path });
    expect(await waiting()).toBe(before - 1);
    for (const page of [path, '/app/approvals']) {
      const { html } = await manager.get(page);
      expect(html).toContain('You approved. Still needed: 1.');
      const approves = (text: string) =>
        /Approve<span/.test(text.split(`action="${path}/approve"`)[1]?.split('</form>')[0] ?? '');
      expect(approves(html)).toBe(false);
      expect(html).toContain(`${path}/reject"`);
      expect(approves((await (await signIn(team.admin)).get(page)).html)).toBe(true);
    }
    await (await signIn(team.admin)).post(`${path}/reject`, { gate_index: '0' }, { from: path });
  });

  it('a run’s page says what happened, and who decided each of its gates', async () => {
    const actions = [
      { type: 'require_approval' },
      { type: 'require_approval', name: 'Release manager' },
      { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'done' } },
    ];
    const task = await buildTask(app, team, await buildProject(app, team), { title: 'The task’s title' });
    const event = JSON.stringify({ task: { task_id: task.task_id, title: 'Another title' } });
    const long = app.services.db.raw("now() - interval '3 days'");
    const run = await buildRun(app, team, { actions, expiresIn: 3600, fields: { event, queued_at: long, started_at: long } });
    const path = `/app/runs/${run.run_id}`;
    const call = app.as(team.manager);
    await call.post(`/api/automations/runs/${run.run_id}/approve`);
    await openNextGate(app, run, 1);
    const times = {
      requested_at: app.services.db.raw("now() - interval '2 hours'"),
      expires_at: app.services.db.raw("now() - interval '1 hour'"),
    };
    await app.services.db('gates').where({ run_id: run.run_id, gate_index: 1 }).update(times);
    await call.post(`/api/automations/runs/${run.run_id}/reject`, { reason: 'Too late' });
    const { actions: steps } = (await call.get(`/api/automations/runs/${run.run_id}`)).body;
    expect(steps.map(({ output }: { output: unknown }) => output)).toMatchObject([
      { decision: 'approved', decided_by: team.manager.user_id, approvals: [{ user_id: team.manager.user_id }] },
      { decision: 'rejected', decided_by: team.manager.user_id, reason: 'Too late', approvals: [] },
      null,
    ]);
    const { html } = await (await signIn(team.manager)).get(path);
    for (const words of [
      'A pull request was merged',
      'You approved',
      'Expired <time',
      'You rejected',
      'Too late',
      '<strong>Gate</strong> <span class="chip">approved</span>',
      '<strong>Gate: Release manager</strong> <span class="chip">rejected</span>',
      `<a href="/app/items/${task.task_id}">The task’s title</a>`,
    ])
      expect(html).toContain(words);
    expect(html).toMatch(/aside" datetime="[^"]+">\d+ \w+ \d{4}, \d\d:\d\d:\d\d</);
    const { queued_at } = await app.services.db('automation_runs').where({ run_id: run.run_id }).first();
    const sameDay = app.services.db.raw("?::timestamptz + interval '1 millisecond'", [queued_at]);
    await app.services.db('automation_runs').where({ run_id: run.run_id }).update({ finished_at: sameDay });
    expect((await (await signIn(team.manager)).get(path)).html).toMatch(/aside" datetime="[^"]+">\d\d:\d\d:\d\d</);
    expect(TRIGGERS.filter(({ key, available }) => available && !(key in TRIGGER_TEXT))).toEqual([]);
  });

  it('a failed run is replayed from its page, by users with the permission', async () => {
    const run = await buildRun(app, team, { status: 'failed', statuses: ['failed', 'skipped', 'skipped'] });
    const [manager, guest] = [await signIn(team.manager), await signIn(team.guest)];
    const path = `/app/runs/${run.run_id}`;
    expect(location(await guest.post(`${path}/replay`, {}, { from: '/app' }))).toBe(path);
    expect((await app.services.db('automation_runs').where({ run_id: run.run_id }).first()).retried_by).toBeNull();
    const answer = await manager.post(`${path}/replay`, {}, { from: path });
    const replay = await app.services.db('automation_runs').where({ retry_of: run.run_id }).first();
    expect(location(answer)).toBe(`/app/runs/${replay.run_id}`);
    await manager.post(`${path}/replay`, {}, { from: path });
    expect((await manager.get(path)).html).toContain('A replay of this run is already in progress');
  });

  it('runs have a list: all of them, what waits, and what failed until it was replayed with success', async () => {
    const own = await buildTeam(app);
    await givePasswords(app);
    const guest = await signIn(own.guest);
    const named = (automation_name: string) => ({ automation_name });
    for (const show of ['', '?show=waiting', '?show=failed'])
      expect((await guest.get(`/app/runs${show}`)).html).toContain('class="empty big"');
    await buildRun(app, own, { fields: named('The waiting one') });
    const error = JSON.stringify({ code: 'secret_missing', message: 'Secret <KEY> does not exist' });
    const whole = JSON.stringify({ code: 'secret_missing', message: 'Action 0 (add_comment): anything' });
    const failed = await buildRun(app, own, {
      status: 'failed',
      statuses: ['failed', 'skipped', 'skipped'],
      fields: { ...named('The failed one'), error: whole },
    });
    await app.services.db('run_actions').where({ run_id: failed.run_id, index: 0 }).update({ error });
    await buildRun(app, own, { status: 'succeeded', fields: named('The good one') });
    await buildRun(app, team, { fields: named('Not theirs') });
    const shown = async (query: string) =>
      [...(await guest.get(`/app/runs${query}`)).html.matchAll(/<strong>(The \w+ one|Not theirs)/g)].map(([, name]) => name);
    expect(await shown('')).toEqual(['The good one', 'The failed one', 'The waiting one']);
    expect(await shown('?show=waiting')).toEqual(['The waiting one']);
    expect(await shown('?show=failed&live')).toEqual(['The failed one']);
    expect(await shown('?show=nonsense')).toHaveLength(3);
    for (const query of ['', '?show=failed'])
      expect((await guest.get(`/app/runs${query}`)).html).toContain('<small class="bad">Secret &lt;KEY&gt; does not exist');
    expect((await guest.get(`/app/runs/${failed.run_id}`)).html).toContain('Then press Replay failed actions on this page.');
    const home = (await guest.get('/app')).html;
    for (const link of ['href="/app/runs"', 'href="/app/runs?show=failed"']) expect(home).toContain(link);
    await app.services.db('automation_runs').where({ run_id: failed.run_id }).update({ retried_by: failed.run_id });
    expect(await shown('?show=failed')).toEqual([]);
    await guest.post('/app/sign-out', {}, { from: '/app' });
    const answer = await guest.get('/app/runs?show=failed&live', { 'hx-request': 'true' });
    expect(answer.headers.get('hx-redirect')).toBe('/app/sign-in?next=%2Fapp%2Fruns%3Fshow%3Dfailed');
  });

  it('runs are filtered by automation, state and day, a page at a time', async () => {
    const own = await buildTeam(app);
    await givePasswords(app);
    const guest = await signIn(own.guest);
    const at = (queued_at: string, automation_name: string) => ({
      fields: { automation_name, queued_at, started_at: queued_at, finished_at: new Date(Date.parse(queued_at) + 125_000) },
    });
    const ended = ['succeeded', 'succeeded', 'succeeded'] as const;
    const first = await buildRun(app, own, {
      status: 'succeeded',
      statuses: [...ended],
      ...at('2026-01-10T12:00:00Z', 'The old one'),
    });
    const automation = { automation_id: first.automation_id };
    await buildRun(app, own, { automation, status: 'failed', ...at('2026-01-11T12:00:00Z', 'The bad one') });
    const rejected = await buildRun(app, own, { status: 'skipped', ...at('2026-01-12T23:59:59.999Z', 'The rejected one') });
    await app.services.db('automation_runs').where({ run_id: rejected.run_id }).update({ skip_reason: 'rejected' });
    await buildRun(app, team, { status: 'failed', ...at('2026-01-11T12:00:00Z', 'Not theirs') });
    const read = async (query: string) => (await guest.get(`/app/runs?${query}`)).html;
    const shown = async (query: string) =>
      [...(await read(query)).matchAll(/<strong>(The \w+ one|Not theirs)/g)].map(([, name]) => name);
    expect(await shown('')).toEqual(['The rejected one', 'The bad one', 'The old one']);
    expect(await shown(`automation=${first.automation_id}`)).toEqual(['The bad one', 'The old one']);
    expect(await shown('state=rejected')).toEqual(['The rejected one']);
    expect(await shown('state=failed&from=&to=&automation=')).toEqual(['The bad one']);
    expect(await shown('from=2026-01-11&to=2026-01-12')).toEqual(['The rejected one', 'The bad one']);
    expect(await shown('to=2026-01-10')).toEqual(['The old one']);
    expect(await shown('from=nonsense&state=nonsense&automation=nonsense&before=nonsense')).toHaveLength(3);
    expect(await read('state=queued')).toContain('No runs match.');
    expect(await read('state=rejected')).toMatch(/<span class="status rejected">.*Rejected<\/span>/);
    expect(await read('to=2026-01-10')).toContain('<span class="took">2 min</span>');
    expect(await shown(`before=${rejected.run_id}`)).toEqual(['The bad one', 'The old one']);
    const strangers = await signIn(team.guest);
    expect((await strangers.get(`/app/runs?automation=${first.automation_id}`)).html).not.toContain('The old one');
  });

  it('fifty runs are a page, and the strip of two weeks says in numbers what it draws', async () => {
    const own = await buildTeam(app);
    await givePasswords(app);
    const guest = await signIn(own.guest);
    const automation = await buildRun(app, own, { status: 'succeeded' });
    for (let n = 0; n < 50; n += 1) await buildRun(app, own, { automation, status: n < 3 ? 'failed' : 'succeeded' });
    await buildRun(app, own, { automation, status: 'failed', fields: { is_test: true } });
    const html = (await guest.get('/app/runs?state=succeeded')).html;
    expect(html).not.toContain('rel="next"');
    const all = (await guest.get('/app/runs')).html;
    expect(all).toContain('Runs of the last 14 days: 48 succeeded, 3 failed');
    expect(all.match(/<rect class="up"/g)).toHaveLength(14);
    expect(all).toMatch(/<\/th><td>48<\/td><td>3<\/td><\/tr>\s*<\/tbody>/);
    const next = /href="([^"]+)" rel="next"/.exec(all)?.[1] as string;
    const rest = (await guest.get(next.replaceAll('&amp;', '&'))).html;
    expect([rest.match(/<li><a href="\/app\/runs\//g)?.length, rest.includes('rel="next"'), rest.includes('Newest')]).toEqual([
      2,
      false,
      true,
    ]);
  });

  it('a manually started run names its user wherever it is shown', async () => {
    const fields = { trigger_type: 'manual', triggered_by: team.manager.user_id };
    const run = await buildRun(app, team, { fields });
    const [admin, manager] = [await signIn(team.admin), await signIn(team.manager)];
    const name = team.manager.email.split('@')[0];
    for (const path of ['/app', '/app/approvals', '/app/runs', '/app/runs?show=waiting', `/app/runs/${run.run_id}`]) {
      expect((await admin.get(path)).html).toContain(`Started manually by ${name}`);
      expect((await manager.get(path)).html).toContain('Started manually by you');
    }
    await app.services.db('automation_runs').where({ run_id: run.run_id }).update({ triggered_by: null });
    expect((await admin.get(`/app/runs/${run.run_id}`)).html).toContain('<strong>Started manually</strong>');
    await app.services
      .db('automation_runs')
      .where({ run_id: run.run_id })
      .update({ status: 'cancelled', finished_at: new Date() });
  });

  it('a waiting run is canceled from its page, by users with the permission', async () => {
    const run = await buildRun(app, team);
    const path = `/app/runs/${run.run_id}`;
    const status = async () => (await app.services.db('automation_runs').where({ run_id: run.run_id }).first()).status;
    await (await signIn(team.guest)).post(`${path}/cancel`, {}, { from: '/app' });
    expect(await status()).toBe('paused');
    await (await signIn(team.manager)).post(`${path}/cancel`, {}, { from: path });
    expect(await status()).toBe('cancelled');
  });

  it('a run’s page fills in what would run from the event, and never a secret', async () => {
    const actions = [
      { type: 'require_approval' },
      {
        type: 'http_request',
        params: { method: 'POST', url: 'https://a.test/', body: 'For {{event.title}} with {{secret:KEY}}' },
      },
    ];
    const run = await buildRun(app, team, {
      creator: team.admin,
      actions,
      fields: { event: JSON.stringify({ title: 'Lift-off' }) },
    });
    const { html } = await (await signIn(team.manager)).get(`/app/runs/${run.run_id}`);
    expect(html).toContain('For Lift-off with {{secret:KEY}}');
  });

  it('a link to a run gives nobody any right', async () => {
    const run = await buildRun(app, team);
    const stranger = await signIn(await personWithPassword());
    expect((await stranger.get(`/app/runs/${run.run_id}`)).status).toBe(403);
    await stranger.post(
      `/app/runs/${run.run_id}/approve`,
      { gate_index: '1', staged_hash: 'x', seen_hash: 'x' },
      { from: '/app' },
    );
    expect((await app.services.db('gates').where({ run_id: run.run_id }).first()).decision).toBeNull();
    expect((await stranger.get('/app/runs/0197a000-0000-7000-8000-000000000001')).status).toBe(404);
    expect((await stranger.get('/app/runs/%00')).status).toBe(404);
  });
});

import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, readCsrf, signIn } from './browser.js';

// Files that pages show as pictures: by their bytes, whatever their sender calls them, and from an address where nothing can run.

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const HTML = Buffer.from('<!doctype html><script>alert(1)</script>');
const AVIF = Buffer.concat([Buffer.from([0, 0, 0, 28]), Buffer.from('ftypavif'), Buffer.alloc(16)]);

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let path: string;

beforeAll(async () => {
  app = await startApp({ LOGIN_OTP: 'off' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  await givePasswords(app);
  const { task_id } = await buildTask(app, team, await buildProject(app, team));
  path = `/app/items/${task_id}`;
  browser = await signIn(app, team.member);
});

/** Sends a file as the script of the page does, and returns what it puts into the text. */
async function paste(name: string, bytes: Buffer, type: string, from = browser): Promise<{ status: number; text: string }> {
  const body = new FormData();
  body.set('_csrf', readCsrf((await from.get('/app/account')).html) as string);
  body.set('file', new Blob([new Uint8Array(bytes)], { type }), name);
  const cookie = [...from.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
  const headers = { cookie, origin: app.url };
  const answer = await fetch(`${app.url}${path}/files/pasted`, { method: 'POST', body, redirect: 'manual', headers });
  return { status: answer.status, text: await answer.text() };
}
const idIn = (text: string): string => /[0-9a-f-]{36}/.exec(text)?.[0] ?? '';

it('shows a picture on its page, at the task and in texts, from an address where nothing can run', async () => {
  const { text } = await paste('crane [1].png', PNG, 'image/png');
  const id = idIn(text);
  const address = `/app/files/${id}/picture`;
  expect(text).toBe(`![crane \\[1\\].png](${address})`);
  const { status, headers } = await browser.get(address);
  expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, 'image/png', String(PNG.length)]);
  expect(headers.get('content-disposition')).toMatch(/^inline; filename="crane \[1\]\.png"/);
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox; frame-ancestors 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  await browser.post(`${path}/comments`, { content: `Look: ${text}` }, { from: path });
  const { html } = await browser.get(path);
  expect(html.match(new RegExp(`<img src="${address}" alt="crane \\[1\\]\\.png" loading="lazy"`, 'g'))).toHaveLength(2);
  const page = (await browser.get(`/app/items/${id}`)).html;
  expect(page.indexOf(`<img src="${address}" alt="crane [1].png"`)).toBeGreaterThan(0);
  expect(page.indexOf('SHA-256')).toBeGreaterThan(page.indexOf(address));
});

it.each([
  ['an SVG', SVG, 'image/svg+xml'],
  ['an SVG that is called a PNG', SVG, 'image/png'],
  ['HTML that is called a picture', HTML, 'image/png'],
  ['a text that is called a picture', Buffer.from('words'), 'image/webp'],
])('%s stays a download', async (_what, bytes, type) => {
  const { text } = await paste('plan.png', bytes, type);
  const id = idIn(text);
  expect(text).toBe(`[plan.png](/app/items/${id})`);
  expect((await browser.get(`/app/files/${id}/picture`)).status).toBe(404);
  expect((await browser.get(`/app/files/${id}`)).headers.get('content-disposition')).toMatch(/^attachment/);
  for (const page of [path, `/app/items/${id}`]) expect((await browser.get(page)).html).not.toContain('/picture"');
});

it('shows an AVIF by its bytes, under its own type', async () => {
  const { text } = await paste('crane.bin', AVIF, 'text/html');
  expect((await browser.get(`/app/files/${idIn(text)}/picture`)).headers.get('content-type')).toBe('image/avif');
});

it('shows a picture to the team alone, and takes files from those who may write', async () => {
  const id = idIn((await paste('crane.png', PNG, 'image/png')).text);
  const stranger = await buildTeam(app);
  await givePasswords(app);
  const other = await signIn(app, stranger.admin);
  expect((await other.get(`/app/files/${id}/picture`)).status).toBe(403);
  const refused = [
    await paste('x.png', PNG, 'image/png', other),
    await paste('x.png', PNG, 'image/png', await signIn(app, team.guest)),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403]);
  expect((await paste('', PNG, 'image/png')).status).toBe(422);
});

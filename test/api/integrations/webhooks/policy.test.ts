import type { Config } from '../../../../api/platform/config.js';
import { loadConfig } from '../../../../api/platform/config.js';
import type { OutboundFailure } from '../../../../api/platform/http-client/failure.js';
import { sendRequest } from '../../../../api/platform/http-client/send-request.js';
import { checkWebhookUrl, webhookPolicy } from '../../../../api/integrations/webhooks/policy.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp, testConfig } from '../../../support/app.js';
import { startReceiver, type Receiver } from '../../../support/receiver.js';

let app: TestApp;
let team: TestTeam;
let receiver: Receiver;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  receiver = await startReceiver();
});
afterAll(async () => {
  receiver.close();
  await app.close();
});

const NAMES: Record<string, string[]> = {
  'public.example': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'inside.example': ['10.0.0.5'],
  'mixed.example': ['93.184.216.34', '10.0.0.5'],
  'mapped.example': ['::ffff:10.0.0.5'],
  'here.example': ['127.0.0.1'],
  'any.example': ['0.0.0.0'],
  'metadata.example': ['169.254.169.254'],
};
const lookUpAddresses = (host: string) => Promise.resolve(NAMES[host] ?? []);
const buildConfig = (allowed: string, production = false): Config => ({
  ...testConfig(app.database.url, app.services.config.DATA_DIR, { WEBHOOK_ALLOWED_HOSTS: allowed }),
  ...(production && { NODE_ENV: 'production' }),
});
const verdict = (config: Config, url: string): Promise<string> =>
  checkWebhookUrl(config, url, lookUpAddresses).then(
    () => 'saved',
    (error: { detail: { errors: { message: string }[] } }) => error.detail.errors[0]?.message ?? '',
  );

const UNREACHABLE = 'url must lead to a public address, at a port to which webhooks may be sent';

it.each([
  'https://public.example/',
  'https://public.example./',
  'https://PUBLIC.example:8443/x?y=z#w',
  'https://93.184.216.34/',
  'https://[2606:2800:220:1:248:1893:25c8:1946]/',
])('%s may be saved', async (url) => expect(await verdict(buildConfig(''), url)).toBe('saved'));

it.each([
  'https://inside.example/',
  'https://mixed.example/',
  'https://mapped.example/',
  'https://here.example/',
  'https://any.example/',
  'https://metadata.example/',
  'https://unknown.example/',
  'https://localhost/',
  'https://localhost./',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://0/',
  'https://10.0.0.5/',
  'https://169.254.169.254/latest/meta-data/',
  'https://168.63.129.16/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:10.0.0.5]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::10.0.0.5]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://public.example:22/',
  'https://public.example:5432/',
])('%s is refused, and nothing says why', async (url) => expect(await verdict(buildConfig(''), url)).toBe(UNREACHABLE));

it.each([
  'http://public.example/',
  'ftp://public.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://user@public.example/',
  'https://user:password@public.example/',
  'https://:password@public.example/',
  '//public.example/',
  'public.example',
  'https://',
])('%s is no address of a webhook', async (url) =>
  expect(await verdict(buildConfig(''), url)).toBe('url must be an https address without credentials'),
);

it.each([
  ['', 'is empty'],
  ['https://пример.example/', 'not ASCII'],
  ['https://public。example/', 'a dot that is none'],
  ['https://public.example\\@10.0.0.5/', 'a backslash'],
  ['https://public.example/\n', 'a line break'],
  [' https://public.example/', 'a blank'],
  [`https://public.example/${'x'.repeat(2_048)}`, 'too long'],
  [7, 'a number'],
  [null, 'null'],
])('the API refuses %j: %s', async (url, _why) => {
  const body = { team_id: team.team_id, url, events: ['*'] };
  const answer = await app.as(team.admin).post('/api/webhooks', body);
  expect(answer).toMatchObject({ status: 422, body: { error_code: 'VALIDATION_ERROR' } });
  expect(answer.body.detail.errors).toHaveLength(1);
});

it.each([
  ['inside.example', 'https://inside.example/', 'saved'],
  ['inside.example', 'https://inside.example:9000/', 'saved'],
  ['inside.example', 'http://inside.example/', 'saved'],
  ['INSIDE.example.', 'https://inside.example/', 'saved'],
  ['inside.example:9000', 'https://inside.example:9000/', 'saved'],
  ['inside.example:9000', 'https://inside.example/', UNREACHABLE],
  ['inside.example:443', 'https://inside.example/', 'saved'],
  ['10.0.0.5', 'https://inside.example/', 'saved'],
  ['10.0.0.5', 'https://mapped.example/', 'saved'],
  ['10.0.0.5', 'https://mixed.example/', 'saved'],
  ['10.0.0.5', 'https://[::ffff:10.0.0.5]/', 'saved'],
  ['10.0.0.5:9000', 'https://inside.example:9000/', 'saved'],
  ['10.0.0.5:9000', 'https://inside.example/', UNREACHABLE],
  ['10.0.0.5', 'https://10.0.0.6/', UNREACHABLE],
  ['inside.example', 'https://sub.inside.example/', UNREACHABLE],
  ['inside.example', 'https://here.example/', UNREACHABLE],
  ['127.0.0.1', 'http://127.0.0.1:8123/', 'saved'],
  ['127.0.0.1', 'http://2130706433:8123/', 'saved'],
  ['[::1]', 'https://[::1]/', 'saved'],
  ['localhost', 'http://localhost:8123/', 'saved'],
  // A plain connection needs the host itself on the list, not an address that it leads to.
  ['127.0.0.1', 'http://here.example/', 'url must be an https address without credentials'],
])('with %s on the list, %s: %s', async (allowed, url, expected) =>
  expect(await verdict(buildConfig(allowed), url)).toBe(expected),
);

it.each([
  ['inside.example', 'https://inside.example/', 'saved'],
  ['10.0.0.5', 'https://10.0.0.5:9000/', 'saved'],
  ['inside.example', 'http://inside.example/', 'url must be an https address without credentials'],
  ['127.0.0.1', 'https://127.0.0.1/', UNREACHABLE],
  ['127.0.0.1', 'https://here.example/', UNREACHABLE],
  ['0.0.0.0', 'https://any.example/', UNREACHABLE],
])('in production, with %s on the list, %s: %s', async (allowed, url, expected) =>
  expect(await verdict(buildConfig(allowed, true), url)).toBe(expected),
);

it.each(['*.example.com', 'https://example.com', 'user@host', 'a b', '*', 'host:99999'])('%s cannot be on the list', (host) => {
  const env = { NODE_ENV: 'test', DATABASE_URL: app.database.url, DATA_DIR: app.services.config.DATA_DIR };
  expect(() => loadConfig({ ...env, WEBHOOK_ALLOWED_HOSTS: host })).toThrow(/WEBHOOK_ALLOWED_HOSTS: must be/);
});

const send = (config: Config, url: string) =>
  sendRequest(
    {
      ...webhookPolicy(config),
      resolve: async (host) => (await lookUpAddresses(host)).map((address) => ({ address, family: 4 })),
    },
    { method: 'POST', url, headers: {}, timeoutMs: 2_000 },
  ).then(
    ({ status }) => status,
    (error: OutboundFailure) => error.reason,
  );

it('holds at the connection too, whatever was saved', async () => {
  const { port } = new URL(receiver.url);
  expect(await send(buildConfig('127.0.0.1'), receiver.url)).toBe(200);
  expect(await send(buildConfig(`here.example:${port}`), `http://here.example:${port}/`)).toBe(200);
  const before = receiver.received.length;
  expect(await send(buildConfig(''), receiver.url)).toBe('url_invalid');
  expect(await send(buildConfig('here.example:1'), `http://here.example:${port}/`)).toBe('url_invalid');
  expect(await send(buildConfig('10.0.0.5'), `https://here.example:${port}/`)).toBe('url_blocked');
  expect(await send(buildConfig('127.0.0.1', true), receiver.url)).toBe('url_invalid');
  expect(await send(buildConfig('here.example', true), `https://here.example:${port}/`)).toBe('url_blocked');
  expect(await send(buildConfig('127.0.0.1', true), `https://127.0.0.1:${port}/`)).toBe('url_blocked');
  expect(receiver.received).toHaveLength(before);
});

it('the address of an automation of this service may not be saved: nobody would know any more what caused its runs', async () => {
  const config = { ...buildConfig('127.0.0.1'), BASE_URL: 'https://public.example' };
  for (const url of ['https://public.example/api/hooks/svc_hook_x', 'https://PUBLIC.example:443/x/../api/hooks/y'])
    expect(await verdict(config, url)).toMatch(/^url must not be the address of an automation/);
  for (const url of ['https://public.example/api/hooksmith', 'https://public.example:8443/api/hooks/x'])
    expect(await verdict(config, url)).toBe('saved');
});

import { getRule } from '../../../api/platform/access/access.js';
import { Settings } from '../../../api/platform/config.js';
import { ENDPOINTS } from '../../../api/http/router.js';
import type { Endpoint } from '../../../api/platform/endpoint/endpoint.js';
import { expectEnvelope } from '../../envelope/expect-envelope.js';
import { buildTeam, buildToken, type Person, type TestTeam } from '../../factories/people.js';
import { getRoute } from '../../authorization/expected.js';
import { startApp, type TestApp } from '../../support/app.js';

// HEAD and OPTIONS on every route, and the headers of rate-limited routes (RFC 9110).

const LIMITED = ENDPOINTS.filter((endpoint) => endpoint.limit !== undefined);
const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());

const buildAddress = ({ path }: Endpoint): string => path.replace(/:\w+/g, UNKNOWN);
const ask = (method: string, path: string, base = app) =>
  fetch(`${base.url}${path}`, { method, headers: { authorization: `Bearer ${team.member.token}` } });
const paths = [...new Set(ENDPOINTS.map(buildAddress))];
const sorted = (methods: string[]): string[] => [...new Set(methods)].toSorted((a, b) => a.localeCompare(b));
const matching = (path: string): Endpoint[] =>
  ENDPOINTS.filter(({ path: declared }) => new RegExp(`^${declared.replace(/:\w+/g, '[^/]+')}$`).test(path));
/** Methods of the resource at this address: of the routes declared for it, or else of the pattern that knows it. */
const methodsAt = (path: string): string[] => {
  const own = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  const methods = (own.length > 0 ? own : matching(path)).map(({ method }) => method.toUpperCase());
  return sorted([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']);
};

it.each(paths)('OPTIONS %s: 204 and the methods it knows, without a credential', async (path) => {
  const answer = await fetch(`${app.url}${path}`, { method: 'OPTIONS' });
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  const allowed = (answer.headers.get('allow') ?? '').split(', ').toSorted((a, b) => a.localeCompare(b));
  expect(allowed).toEqual(methodsAt(path));
  expect(answer.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
});

it.each(paths)('a method that %s does not know: 405 with the ones it does', async (path) => {
  const known = methodsAt(path);
  const taken = new Set(matching(path).map(({ method }) => method.toUpperCase()));
  const other = ['PUT', 'PATCH', 'DELETE', 'POST'].find((method) => !taken.has(method));
  if (!other) return;
  const answer = await ask(other, path);
  expect(answer.status).toBe(405);
  expect(
    answer.headers
      .get('allow')
      ?.split(', ')
      .toSorted((a, b) => a.localeCompare(b)),
  ).toEqual(known);
});

it.each(ENDPOINTS.filter(({ method }) => method === 'get').map((endpoint) => [getRoute(endpoint), endpoint] as const))(
  'HEAD for %s: as GET, without the body',
  async (_route, endpoint) => {
    const path = buildAddress(endpoint);
    const [got, head] = [await ask('GET', path), await ask('HEAD', path)];
    const text = await got.text();
    expect([head.status, await head.text()]).toEqual([got.status, '']);
    const same = ['content-type', 'x-required-scope', 'x-total-count', 'link', 'cache-control', 'etag'];
    expect(same.map((name) => [name, head.headers.get(name)])).toEqual(same.map((name) => [name, got.headers.get(name)]));
    const length = head.headers.get('content-length');
    if (got.status < 300 && length !== null) expect(Number(length)).toBe(Buffer.byteLength(text));
  },
);

describe('a limited route', () => {
  let limited: TestApp;
  beforeAll(async () => {
    const limits = Object.keys(Settings.shape).filter((name) => name.startsWith('RATE_LIMIT_'));
    limited = await startApp(Object.fromEntries(limits.map((name) => [name, '2'])));
    team = await buildTeam(limited);
  });
  afterAll(() => limited.close());

  /** Calls of an address are counted for its automation: nobody can use up the calls of an unknown one. */
  const makeAddress = async (member: Person): Promise<string> => {
    const actions = [{ type: 'notify', params: { role: 'member', message: 'Called' } }];
    const { body } = await limited.as(member).post('/api/automations', { name: 'Called', trigger_type: 'webhook', actions });
    return new URL((await limited.as(member).post(`/api/automations/${body.automation_id}/hook`, {})).body.url).pathname;
  };

  it('there are some', () => {
    expect(new Set(LIMITED.map(({ limit }) => limit)).size).toBeGreaterThanOrEqual(3);
  });

  it.each(LIMITED.map((endpoint) => [getRoute(endpoint), endpoint] as const))(
    '%s says what is left, and when to come back',
    async (_route, endpoint) => {
      await limited.services.db('rate_limits').delete();
      // Somebody new: routes share buckets, and who is over a limit is remembered without the table.
      const { member } = await buildTeam(limited);
      const patOnly = endpoint.ability !== 'public' && getRule(endpoint.ability).patOnly;
      const caller = patOnly ? await buildToken(limited, member, ['ai:chat', 'requests:create']) : member;
      const address = endpoint.path.startsWith('/api/hooks/') ? await makeAddress(member) : buildAddress(endpoint);
      const call = () =>
        limited.as(caller)[endpoint.method](address, endpoint.method === 'get' ? undefined : {}, {
          headers: { 'x-hub-signature-256': 'sha256=0' },
        });
      for (const left of [1, 0]) {
        const { status, headers } = await call();
        expect(status).not.toBe(429);
        expect(headers.get('ratelimit-policy')).toMatch(/^"[\w-]+";q=2;w=60$/);
        expect(headers.get('ratelimit')).toMatch(new RegExp(`^"[\\w-]+";r=${left};t=(60|[1-5]?\\d)$`));
        expect(headers.get('retry-after')).toBeNull();
      }
      const refused = await call();
      expectEnvelope(refused, 429);
      expect(refused.headers.get('ratelimit')).toMatch(/;r=0;t=\d+$/);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    },
  );

  it('others say nothing of limits', async () => {
    const { headers } = await limited.as(team.member).get('/api/projects');
    expect([headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([null, null]);
  });
});

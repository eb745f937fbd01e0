import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { type Answer, startApp, type TestApp } from '../support/app.js';
import { expectEnvelope } from './expect-envelope.js';

// Every error that a well-formed HTTP request can cause, in the envelope.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project);
});
afterAll(() => app.close());

const NEW_TASK = '/api/tasks';

/** A request that fetch sends as it is, answered by JSON or by nothing. */
async function request(
  method: string,
  path: string,
  init: Omit<RequestInit, 'method'> & { anonymous?: true } = {},
): Promise<Answer> {
  const { anonymous, headers, ...rest } = init;
  const response = await fetch(`${app.url}${path}`, {
    ...rest,
    method,
    headers: { ...(anonymous ? {} : { authorization: `Bearer ${team.member.token}` }), ...(headers as Record<string, string>) },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
const json = (body: string | Buffer, type = 'application/json', more: Record<string, string> = {}) => ({
  body: body as never,
  headers: { 'content-type': type, ...more },
});

describe('404 for what is not there', () => {
  it.each([
    ['an unknown path', '/api/nothing'],
    ['beside the web app', '/apps'],
    ['a path outside the API', '/metrics'],
    ['a trailing slash', '/api/tasks/'],
    ['a wrong case', '/api/Tasks'],
    ['a double slash', '//api/tasks'],
    ['an encoded slash in an id', '/api/tasks/a%2Fb'],
    ['a NUL in an id', '/api/tasks/%00'],
    ['an id with a quote', "/api/tasks/x'%20or%201=1--"],
    ['an id of 3,000 characters', `/api/tasks/${'x'.repeat(3000)}`],
    ['dots that lead elsewhere', '/api/tasks/..%2f..%2fetc%2fpasswd'],
  ])('%s', async (_what, path) => expectEnvelope(await request('GET', path), 404));

  it('without a credential an unknown path is 404, a known one 401', async () => {
    expectEnvelope(await request('GET', '/api/nothing', { anonymous: true }), 404);
    const refused = await request('GET', NEW_TASK, { anonymous: true });
    expectEnvelope(refused, 401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  });

  it.each(['/api/tasks/%E0%A4%A', '/api/tasks/%', '/api/tasks/%ED%A0%80'])(
    'a bad percent sign, %s, is 400 or 404',
    async (path) => {
      const answer = await request('GET', path);
      expectEnvelope(answer, answer.status === 400 ? 400 : 404);
    },
  );
});

describe('methods', () => {
  it.each([
    ['PUT', '/api/auth/me', 'GET, HEAD, OPTIONS, PATCH'],
    ['PROPFIND', '/api/tasks', 'GET, HEAD, OPTIONS, POST'],
    ['DELETE', '/api/tasks', 'GET, HEAD, OPTIONS, POST'],
    ['GET', '/api/auth/login', 'OPTIONS, POST'],
    ['POST', '/api/tasks/some-id', 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'],
    ['GET', '/api/forge/webhooks', 'OPTIONS, POST'],
    ['POST', '/api/tasks/my', 'GET, HEAD, OPTIONS'],
  ])('405 for %s %s, with what is allowed', async (method, path, allowed) => {
    const answer = await request(method, path);
    expectEnvelope(answer, 405);
    expect(answer.headers.get('allow')?.split(', ').sort().join(', ')).toBe(allowed);
  });

  it('404 for a strange method on an unknown path', async () => expectEnvelope(await request('PROPFIND', '/api/nothing'), 404));

  it('OPTIONS is 204 with Allow, and 404 on an unknown path', async () => {
    const answer = await request('OPTIONS', NEW_TASK, { anonymous: true });
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect(answer.headers.get('allow')).toContain('POST');
    expectEnvelope(await request('OPTIONS', '/api/nothing'), 404);
  });

  it('HEAD answers as GET without the body', async () => {
    const got = await request('HEAD', `/api/tasks/${task.task_id}`);
    expect([got.status, got.body]).toEqual([200, undefined]);
    expect(got.headers.get('etag')).toBe('"1"');
    for (const [path, status] of [
      ['/api/tasks/nobody', 404],
      ['/api/nothing', 404],
      ['/api/auth/login', 405],
    ] as const) {
      const refused = await request('HEAD', path);
      expect([refused.status, refused.body]).toEqual([status, undefined]);
      expect(refused.headers.get('x-correlation-id')).toMatch(/-7/);
    }
  });

  it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])('%s changes nothing', async (header) => {
    const path = `/api/tasks/${task.task_id}`;
    expect((await request('GET', `${path}?_method=DELETE`, { headers: { [header]: 'DELETE' } })).status).toBe(200);
    expectEnvelope(await request('POST', path, { headers: { [header]: 'DELETE' } }), 405);
    expect((await request('GET', path)).status).toBe(200);
  });
});

describe('415 for a body that is not JSON in UTF-8', () => {
  const body = '{"title":"x"}';
  it.each([
    ['a form', json('title=x', 'application/x-www-form-urlencoded')],
    ['multipart', json('--x--', 'multipart/form-data; boundary=x')],
    ['text', json(body, 'text/plain')],
    ['something like JSON', json(body, 'application/jsonp')],
    ['utf-16', json(Buffer.from(body, 'utf16le'), 'application/json; charset=utf-16')],
    ['an unknown charset', json(body, 'application/json; charset=bogus')],
    ['gzip', json(body, 'application/json', { 'content-encoding': 'gzip' })],
    ['identity, too: no Content-Encoding is accepted', json(body, 'application/json', { 'content-encoding': 'identity' })],
    ['br over identity', json(body, 'application/json', { 'content-encoding': 'identity, br' })],
  ])('%s', async (_what, init) => expectEnvelope(await request('POST', NEW_TASK, init), 415));

  it('no type at all', async () => {
    expectEnvelope(await request('POST', NEW_TASK, { body: new Uint8Array(Buffer.from(body)) }), 415);
  });

  it.each([
    ['application/merge-patch+json', {}],
    ['application/json; charset="UTF-8"', {}],
    ['APPLICATION/JSON', {}],
  ])('%s is taken', async (type, more) => {
    const answer = await request('PATCH', `/api/tasks/${task.task_id}`, json(body, type, more));
    expect(answer.status).toBe(200);
  });
});

describe('422 for JSON that cannot be read', () => {
  const nested = (depth: number) => `{"title":"x","extra":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  const readable = (body: string | Buffer) => request('PATCH', `/api/tasks/${task.task_id}`, json(body));

  it.each([
    ['cut off', '{"title":'],
    ['with a comma too many', '{"title":"x",}'],
    ['of 33 levels', nested(33)],
    ['of 100,000 levels', nested(100_000)],
    ['in invalid UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])],
    ['blank', '  '],
  ])('%s', async (_what, body) => {
    const answer = await readable(body);
    expectEnvelope(answer, 422);
    expect(answer.body.detail.errors[0]).toMatchObject({ field: 'body', type: 'json_invalid' });
  });

  it.each([
    ['a string', '"x"'],
    ['a number', '1'],
    ['null', 'null'],
    ['true', 'true'],
    ['an array', '[]'],
  ])('%s instead of an object', async (_what, body) => {
    const answer = await readable(body);
    expectEnvelope(answer, 422);
    expect(answer.body.detail.errors[0]).toMatchObject({ field: 'body', type: 'json_invalid' });
  });

  it('32 levels, a BOM and odd keys are read', async () => {
    expect((await readable(nested(32))).status).toBe(200);
    expect((await readable(`\uFEFF{"title":"with a BOM"}`)).status).toBe(200);
    expect((await readable('{"title":"x","__proto__":{"role":"admin"},"constructor":1}')).status).toBe(200);
    expect(({} as { role?: string }).role).toBeUndefined();
  });

  it.each([
    ['a NUL', '{"title":"a\\u0000b"}'],
    ['half a surrogate pair', '{"title":"a\\ud800b"}'],
    ['a number beyond every double', '{"title":"x","estimated_hours":1e400}'],
    ['an integer beyond 32 bits', '{"version":2147483648}'],
  ])('%s is named with its field', async (_what, body) => {
    const answer = await readable(body);
    expectEnvelope(answer, 422);
    expect(answer.body.detail.errors[0].field).toMatch(/^body\./);
  });

  it('no body is an empty object, whatever its type says', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const answer = await request('POST', NEW_TASK, { headers });
      expectEnvelope(answer, 422);
      expect(answer.body.detail.errors.map((error: { field: string }) => error.field)).toContain('body.title');
    }
  });
});

describe('integers in a query', () => {
  it.each(['1e20', '-1', 'NaN', '0x10', ' 5 ', '', '0', '1.5', '+5', '５', 'Infinity', 'null'])(
    'limit=%j is 422',
    async (limit) => {
      const answer = await request('GET', `/api/projects?${new URLSearchParams({ limit }).toString()}`);
      expectEnvelope(answer, 422);
      expect(answer.body.detail.errors[0].field).toBe('query.limit');
    },
  );

  it.each(['limit=1&limit=2', 'team_id=a&team_id=b', 'offset=-1'])('%s is 422', async (query) => {
    expectEnvelope(await request('GET', `/api/projects?${query}`), 422);
  });

  it.each(['limit=99999999999999999999', 'limit=007', 'offset=99999999999999999999', 'limit[]=5', 'unknown=%00'])(
    '%s is 200',
    async (query) => {
      expect((await request('GET', `/api/projects?${query}`)).status).toBe(200);
    },
  );

  it.each(['0', '201', '1000000000000'])('where the contract gives a range without clamping, limit=%s is 422', async (limit) => {
    expectEnvelope(await request('GET', `/api/automations/approvals?limit=${limit}`), 422);
  });

  it('a NUL or a bad percent sign in a filter finds nothing and breaks nothing', async () => {
    expect((await request('GET', '/api/tasks?team_id=%00')).body).toEqual([]);
    expectEnvelope(await request('GET', '/api/tasks?project_id=%E0%A4%A'), 404);
    expectEnvelope(await request('GET', '/api/tasks?status=%00'), 422);
  });
});

describe('every answer', () => {
  it.each([
    ['GET', '/api/auth/me'],
    ['GET', '/api/nothing'],
    ['POST', '/api/tasks'],
    ['OPTIONS', '/api/tasks'],
  ])('%s %s carries an id of ours and never the client’s', async (method, path) => {
    const theirs = '019a9f00-0000-7000-8000-00000000beef';
    const headers = { 'x-correlation-id': theirs, 'x-request-id': theirs, traceparent: `00-${theirs}` };
    const [one, two] = await Promise.all([request(method, path, { headers }), request(method, path, { headers })]);
    for (const answer of [one, two]) {
      expect(answer.headers.get('x-correlation-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      const others = [...answer.headers].filter(([name]) => name !== 'x-request-id');
      expect(JSON.stringify([others, answer.body])).not.toContain(theirs);
      expect(answer.headers.get('X-Request-ID')).toBe(theirs);
    }
    expect(one.headers.get('x-correlation-id')).not.toBe(two.headers.get('x-correlation-id'));
  });

  it('is never sniffed, framed or cached, and does not say what serves it', async () => {
    for (const path of ['/api/auth/me', '/api/nothing']) {
      const { headers } = await request('GET', path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
      });
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('server')).toBeNull();
    }
  });
});

it('429 tells when to come back', async () => {
  const limited = await startApp({ RATE_LIMIT_LOGIN: '2' });
  try {
    const attempt = () => limited.as().post('/api/auth/login', { email: 'nobody@test.example', password: 'x' });
    for (const _ of [1, 2]) expectEnvelope(await attempt(), 401);
    const answer = await attempt();
    expectEnvelope(answer, 429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('ratelimit')).toMatch(/^"login";r=0;t=\d+$/);
  } finally {
    await limited.close();
  }
});

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { v7 as uuidv7 } from 'uuid';
import { DomainError } from '../../../api/platform/errors.js';
import { deleteExpiredKeys } from '../../../api/platform/database/idempotency-keys.js';
import { createApp } from '../../../api/http/app.js';
import { withIdempotencyKey as keepOnce } from '../../../api/http/idempotency.js';
import { takesKey } from '../../../api/platform/endpoint/endpoint.js';
import { createOpenApi } from '../../../api/http/openapi.js';
import { ENDPOINTS } from '../../../api/http/router.js';
import { openDatabase } from '../../../db/connection.js';
import { expectEnvelope } from '../../envelope/expect-envelope.js';
import { buildPerson, buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { getRoute } from '../../authorization/expected.js';
import { type Answer, type Client, startApp, type TestApp } from '../../support/app.js';
import { until } from '../../support/worker.js';

// Idempotency-Key: a repetition gets the stored response and runs nothing.

let app: TestApp;
let team: TestTeam;
let member: Client;
beforeAll(async () => {
  app = await startApp({ RATE_LIMIT_AUTOMATION_DISPATCH: '1' });
  team = await buildTeam(app);
  member = app.as(team.member);
});
afterAll(() => app.close());

const db = () => app.services.db;
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const project = (name = 'Apollo') => ({ name, team_id: team.team_id });
const create = (key: string, body: unknown = project(), by = member) => by.post('/api/projects', body, keyed(key));
const projectsNamed = (name: string) => db()('projects').where({ name, team_id: team.team_id });
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';
const stored = (key: string) => db()('idempotency_keys').where({ key }).first();

/** Blocks the creation of projects in the team until `work` is done. */
const whileTeamIsHeld = (work: () => Promise<void>) =>
  db().transaction(async (held) => {
    await held('teams').where({ team_id: team.team_id }).forUpdate().first();
    await work();
  });

describe('a repeat', () => {
  it('gets the first answer again, byte for byte, and does nothing', async () => {
    const key = randomUUID();
    const name = `Once ${key}`;
    const first = await create(key, project(name));
    const second = await create(key, project(name));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(second.headers.get('x-correlation-id')).not.toBe(first.headers.get('x-correlation-id'));
    expect(second.headers.get('x-required-scope')).toBe('projects:write');
    expect(await projectsNamed(name)).toHaveLength(1);
    expect(await db()('audit_entries').where({ entity_id: first.body.data.project_id })).toHaveLength(1);
  });

  it('keeps the status of the first answer where a route has several', async () => {
    const { project_id } = await buildProject(app, team);
    const body = { title: 'Twice', project_id, task_id: `t-${randomUUID()}` };
    const key = randomUUID();
    const answers = [];
    for (const each of [key, key, randomUUID()]) answers.push(await member.post('/api/tasks', body, keyed(each)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200]);
  });

  it('gets a refusal again, with its envelope, even when it would go well by now', async () => {
    const key = randomUUID();
    const late = await buildPerson(app);
    const body = { name: 'Late', team_id: team.team_id };
    const refused = await create(key, body, app.as(late));
    expectEnvelope(refused, 403);
    await db()('memberships').insert({ team_id: team.team_id, user_id: late.user_id, role: 'member' });
    const again = await create(key, body, app.as(late));
    expect([again.status, isReplay(again)]).toEqual([403, true]);
    expect(again.body).toEqual(refused.body);
    expect((await create(randomUUID(), body, app.as(late))).status).toBe(201);
  });

  it('may be written differently, but not say something else', async () => {
    const key = randomUUID();
    const raw = JSON.stringify(project('Same'), null, 2);
    expect((await create(key, project('Same'))).status).toBe(201);
    expect(isReplay(await member.post('/api/projects', undefined, { ...keyed(key), raw }))).toBe(true);
    const other = await create(key, project('Other'));
    expectEnvelope(other, 422);
    expect(other.body.detail.errors).toEqual([
      { field: 'header.Idempotency-Key', type: 'key_reused', message: expect.stringContaining('another body') },
    ]);
    expectEnvelope(await member.post('/api/projects?team=2', project('Same'), keyed(key)), 422);
    expect(await projectsNamed('Other')).toEqual([]);
  });

  it('is one only for the same person and the same address', async () => {
    const key = randomUUID();
    const body = { content: 'Ready' };
    const { project_id } = await buildProject(app, team);
    const tasks = await Promise.all(
      ['one', 'two'].map(async (title) => (await member.post('/api/tasks', { title, project_id })).body.task_id as string),
    );
    const comment = (taskId: string | undefined, by: Client) => by.post(`/api/tasks/${taskId}/comments`, body, keyed(key));
    for (const by of [member, app.as(team.manager)]) {
      for (const task of tasks) expect(isReplay(await comment(task, by))).toBe(false);
      for (const task of tasks) expect(isReplay(await comment(task, by))).toBe(true);
    }
    expect(await db()('comments').where({ content: 'Ready' })).toHaveLength(4);
  });

  it('works where there is no body', async () => {
    const { project_id } = await buildProject(app, team);
    await member.delete(`/api/projects/${project_id}`);
    const restore = () => member.post(`/api/trash/project/${project_id}/restore`, undefined, keyed('restore'));
    const [first, second] = [await restore(), await restore()];
    expect([first.status, second.status, isReplay(second)]).toEqual([200, 200, true]);
  });
});

describe('a key', () => {
  it.each([
    ['1 character', 'k', 201],
    ['255 characters', 'k'.repeat(255), 201],
    ['spaces and signs', 'deploy 41, "now"!', 201],
    ['256 characters', 'k'.repeat(256), 422],
    ['no character', '', 422],
    ['a letter beyond ASCII', 'k\u00e9y', 422],
    ['a tab', 'a\tb', 422],
  ])('of %s', async (_what, key, status) => {
    const answer = await create(key);
    expect(answer.status).toBe(status);
    if (status === 422) expect(answer.body.detail.errors[0].field).toBe('header.Idempotency-Key');
  });

  it('is not taken by a request that is refused before anything is done', async () => {
    const key = randomUUID();
    expect((await create(key, { name: '' })).status).toBe(422);
    expect((await app.as().post('/api/projects', project(), keyed(key))).status).toBe(401);
    expect(await stored(key)).toBeUndefined();
    expect((await create(key)).status).toBe(201);
  });

  it('means nothing to a read', async () => {
    const list = () => member.get('/api/projects', undefined, keyed('read'));
    expect([isReplay(await list()), isReplay(await list())]).toEqual([false, false]);
  });

  it('is free again after 24 hours, and then forgotten', async () => {
    const key = randomUUID();
    await create(key, project('Yesterday'));
    await db()('idempotency_keys')
      .where({ key })
      .update({ claimed_at: db().raw("now() - interval '24 hours 1 second'") });
    expect(isReplay(await create(key, project('Today')))).toBe(false);
    await db()('idempotency_keys').update({ claimed_at: db().raw("now() - interval '23 hours 59 minutes'") });
    expect(await deleteExpiredKeys(db())).toBe(0);
    await db().raw(
      /* sql */ `
      insert into idempotency_keys (user_id, key, address, fingerprint, request_id, claimed_at, lease_until, status)
      select ?, 'old ' || n, '', '', uuidv7(), now() - interval '25 hours', now(), 200 from generate_series(1, 1100) n`,
      [team.member.user_id],
    );
    expect(await deleteExpiredKeys(db())).toBe(1100);
    expect(await deleteExpiredKeys(db())).toBe(0);
    expect(await stored(key)).toBeDefined();
  });
});

describe('while the first is under way', () => {
  it('409 to a repeat, 422 to another body; its answer once it is there', async () => {
    const key = randomUUID();
    let first: Promise<Answer> | undefined;
    await whileTeamIsHeld(async () => {
      first = create(key);
      await until(() => stored(key));
      const early = await create(key);
      expectEnvelope(early, 409);
      expect(early.headers.get('retry-after')).toBe('1');
      expectEnvelope(await create(key, project('Other')), 422);
    });
    expect((await first)?.status).toBe(201);
    expect((await create(key)).body).toEqual((await first)?.body);
  });

  it('performs one of 20 concurrent requests through two processes', async () => {
    const second = await startSecondProcess(app);
    try {
      for (let round = 0; round < 20; round += 1) {
        const key = randomUUID();
        const name = `Race ${key}`;
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, at) => send(at % 2 === 0 ? app.url : second.url, key, project(name))),
        );
        expect(await projectsNamed(name)).toHaveLength(1);
        const done = answers.filter(({ status, replayed }) => status === 201 && !replayed);
        expect(done).toHaveLength(1);
        for (const { status, replayed, text } of answers) {
          expect(status === 409 || status === 201).toBe(true);
          if (replayed) expect(text).toBe(done[0]?.text);
        }
        expect((await create(key, project(name))).status).toBe(201);
      }
    } finally {
      await second.close();
    }
  });

  it('the claim is renewed for as long as it takes', async () => {
    import.meta.jest.useFakeTimers({
      doNotFake: [
        'Date',
        'hrtime',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'clearImmediate',
        'setTimeout',
        'clearTimeout',
      ],
    });
    try {
      const key = randomUUID();
      let first: Promise<Answer> | undefined;
      await whileTeamIsHeld(async () => {
        first = create(key);
        const claim = await until(() => stored(key));
        import.meta.jest.advanceTimersByTime(10_000);
        await until(async () => (await stored(key)).lease_until > claim.lease_until);
      });
      await first;
    } finally {
      import.meta.jest.useRealTimers();
    }
  });
});

describe('when it goes wrong', () => {
  const broken = async (work: () => Promise<void>) => {
    await db().raw(/* sql */ `
      create function fail() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
      create trigger fail before insert on projects for each row execute function fail()`);
    try {
      await work();
    } finally {
      await db().raw('drop function fail cascade');
    }
  };

  it('an answer of 5xx is not kept: the same key may try again', async () => {
    const key = randomUUID();
    await broken(async () => {
      expectEnvelope(await create(key), 500);
      expect(await stored(key)).toBeUndefined();
    });
    expect((await create(key)).status).toBe(201);
  });

  it('an answer of 429 is not kept, whether it comes before the work or out of it', async () => {
    const retry = (key: string) => member.post(`/api/automations/dead-letter/${uuidv7()}/retry`, {}, keyed(key));
    expect((await retry('first')).status).toBe(404);
    const limited = await retry('second');
    expectEnvelope(limited, 429);
    expect(await stored('second')).toBeUndefined();
    const hash = Buffer.alloc(32);
    const use = { userId: team.member.user_id, key: 'third', address: hash, fingerprint: hash, requestId: uuidv7() };
    const busy = new DomainError('RATE_LIMIT_EXCEEDED', 'Too many requests');
    await expect(keepOnce(app.services, use, () => Promise.reject(busy))).rejects.toBe(busy);
    expect(await stored('third')).toBeUndefined();
    await keepOnce(app.services, use, () => Promise.resolve({ status: 202, body: { done: true }, headers: {} }));
    expect(await stored('third')).toMatchObject({ status: 202, body: '{"done":true}' });
  });

  it('the key of a process that died is free again when its lease is over', async () => {
    const key = randomUUID();
    await create(key, project('Dead'));
    const orphan = { status: null, body: null, request_id: uuidv7() };
    await db()('idempotency_keys')
      .where({ key })
      .update({ ...orphan, lease_until: db().raw("now() + interval '1 minute'") });
    expectEnvelope(await create(key, project('Dead')), 409);
    await db()('idempotency_keys')
      .where({ key })
      .update({ lease_until: db().raw("now() - interval '1 second'") });
    const answer = await create(key, project('Dead'));
    expect([answer.status, isReplay(answer)]).toEqual([201, false]);
    expect(isReplay(await create(key, project('Dead')))).toBe(true);
  });

  it('does not repeat what that process had committed', async () => {
    const key = randomUUID();
    const name = `Committed ${key}`;
    const first = await create(key, project(name));
    const lapsed = { status: null, body: null, lease_until: db().raw("now() - interval '1 second'") };
    await db()('idempotency_keys').where({ key }).update(lapsed);
    const answer = await create(key, project(name));
    expectEnvelope(answer, 409);
    expect(answer.body.detail).toContain(first.headers.get('x-correlation-id'));
    expect(await projectsNamed(name)).toHaveLength(1);
  });

  it('a claim lasts 30 seconds', async () => {
    const key = randomUUID();
    await create(key);
    const { claimed_at, lease_until } = await stored(key);
    expect(lease_until - claimed_at).toBe(30_000);
  });
});

describe('which routes take one', () => {
  const SECRETS = ['token', 'secret', 'recovery_codes', 'otpauth_url', 'device_token', 'runner_token'];
  const document = createOpenApi(ENDPOINTS) as unknown as {
    paths: Record<string, Record<string, { parameters?: { name: string }[]; responses: Record<string, unknown> }>>;
    components: { schemas: Record<string, unknown> };
  };
  const operation = (path: string, method: string) => document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method];

  /** Whether a schema, or one that it refers to, has a property of one of these names. */
  function names(schema: unknown, seen = new Set<string>()): boolean {
    if (typeof schema !== 'object' || schema === null) return false;
    const { $ref, properties } = schema as { $ref?: string; properties?: Record<string, unknown> };
    if ($ref) {
      const name = $ref.split('/').at(-1) as string;
      if (seen.has(name)) return false;
      return names(document.components.schemas[name], seen.add(name));
    }
    if (properties && SECRETS.some((secret) => secret in properties)) return true;
    return Object.values(schema).some((inner) => names(inner, seen));
  }

  /** Beside those: it ends the session that would ask again; no trace of a secret's value is to be kept; its address holds a state. */
  // A search changes nothing, and a stored answer would outlast the caller's rights.
  const EXCUSED = [
    '/api/search',
    // Its agents name a proposal by a key of their own.
    '/api/mcp',
    '/api/mcp/gateway/:upstream',
    // It has a redemption id, and its answer is a proof for one use.
    '/api/change-requests/:request_id/redeem',
    '/api/files',
    '/api/bulk/uploads',
    '/api/admin/impersonate/stop',
    '/api/automations/secrets',
    '/api/integrations/:key/connect',
    // What the caller may read at this moment is not repeated later.
    '/api/audit/export',
  ];
  const answersSecret = (path: string, method: string) => {
    const responses = operation(path, method)?.responses ?? {};
    return names(Object.entries(responses).flatMap(([status, answer]) => (status < '300' ? [answer] : [])));
  };

  it('every POST but the raw webhook, what signs in, and what hands out a secret', () => {
    const posts = ENDPOINTS.filter(({ method }) => method === 'post');
    const wanted = posts.filter(
      ({ path, method, raw, ability }) =>
        !raw &&
        !path.startsWith('/api/auth/') &&
        ability !== 'runner.work' &&
        !EXCUSED.includes(path) &&
        !answersSecret(path, method),
    );
    expect(wanted.length).toBeGreaterThan(5);
    expect(posts.filter(takesKey).map(getRoute)).toEqual(wanted.map(getRoute));
    expect(ENDPOINTS.filter((endpoint) => endpoint.method !== 'post' && takesKey(endpoint))).toEqual([]);
  });

  it('the document says so on these and on no others', () => {
    const said = ENDPOINTS.filter(({ path, method }) =>
      operation(path, method)?.parameters?.some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(said.map(getRoute)).toEqual(ENDPOINTS.filter(takesKey).map(getRoute));
  });

  it('signing in with one stores nothing', async () => {
    await app.as().post('/api/auth/login', { email: 'nobody@test.example', password: 'x' }, keyed('login'));
    expect(await stored('login')).toBeUndefined();
  });
});

/** The same application on the same database with another pool: another process from PostgreSQL's view. */
async function startSecondProcess({ services, database }: TestApp) {
  const pool = openDatabase({ url: database.url, poolSize: 8, name: 'second', acquireTimeoutMs: 30_000 });
  const handle = createApp({ ...services, db: pool }).callback();
  const server: Server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await pool.destroy();
    },
  };
}

async function send(base: string, key: string, body: unknown) {
  const response = await fetch(`${base}/api/projects`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${team.member.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  });
  const replayed = response.headers.get('idempotency-replayed') === 'true';
  return { status: response.status, replayed, text: await response.text() };
}

import { createHmac } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { fromDatabaseError } from '../../api/platform/database/database-errors.js';
import { DomainError } from '../../api/platform/errors.js';
import { type Endpoint, endpoint } from '../../api/platform/endpoint/endpoint.js';
import { ENDPOINTS } from '../../api/http/router.js';
import { openDatabase } from '../../db/connection.js';
import { buildPerson, type Person } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { resend } from '../support/resend.js';
import { expectEnvelope } from './expect-envelope.js';

// Internal errors in the envelope. The routes are made up and exist in this file only.

/** Context of an empty object, with the secret `s`. */
const SIGNED_EMPTY = `sha256=${createHmac('sha256', 's').update('{}').digest('hex')}`;

let thrown: unknown;
const fake = (path: `/api/fake/${string}`, handle: () => Promise<unknown>): Endpoint =>
  endpoint({
    id: 'getFake',
    method: 'get',
    path,
    tag: 'Fake',
    summary: 'Fake',
    ability: 'account.read',
    response: z.unknown(),
    handle,
  });
const fails = (path: `/api/fake/${string}`): Endpoint =>
  fake(path, () => {
    throw thrown;
  });

let app: TestApp;
let person: Person;
beforeAll(async () => {
  ENDPOINTS.push(
    fails('/api/fake/fault'),
    fake('/api/fake/cancel', () =>
      app.services.db.transaction((db) =>
        db.raw("set local statement_timeout = '20ms'").then(() => db.raw('select pg_sleep(1)')),
      ),
    ),
  );
  app = await startApp({}, 'product');
  person = await buildPerson(app);
});
afterAll(async () => {
  // The test files of one process share the product's modules.
  ENDPOINTS.splice(-2);
  await app.close();
});

const provoke = (error: unknown) => {
  thrown = error;
  return app.as(person).get('/api/fake/fault');
};
const databaseError = (code: string) =>
  Object.assign(new Error(`insert into audit_entries: value 'hunter2' (${code})`), {
    code,
    severity: 'ERROR',
    detail: 'Key (email)=(a@b.c)',
    table: 'users',
  });

describe('what PostgreSQL throws', () => {
  it.each([
    ['22003', 422],
    ['22021', 422],
    ['22P02', 422],
    ['22P05', 422],
    ['23505', 409],
    ['23503', 409],
    ['23514', 500],
    ['23502', 500],
    ['40001', 503],
    ['40P01', 503],
    ['57014', 503],
    ['57P01', 503],
    ['57P03', 503],
    ['53300', 503],
    ['08006', 503],
    ['42P01', 500],
    ['42501', 500],
    ['XX000', 500],
    ['ECONNREFUSED', 503],
    ['ECONNRESET', 503],
  ])('%s is a %i and tells nothing', async (code, status) => {
    const answer = await provoke(databaseError(code));
    const declared = status === 503 || status === 500;
    // 409 and 422 are not declared by the made-up route: the mapper is asked directly.
    if (declared) expectEnvelope(answer, status);
    else expect(fromDatabaseError(databaseError(code))?.status).toBe(status);
    if (status === 503) expect(answer.headers.get('retry-after')).toBe('2');
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter2|users|email/);
  });

  it('is found inside what Objection wraps', () => {
    const wrapped = Object.assign(new Error('UniqueViolationError'), { nativeError: databaseError('23505') });
    expect(fromDatabaseError(wrapped)?.code).toBe('RESOURCE_CONFLICT');
  });

  it('is told from other errors', () => {
    for (const other of [new Error('plain'), Object.assign(new Error('x'), { code: 'ENOENT' }), 'text', null, undefined]) {
      expect(fromDatabaseError(other)).toBeUndefined();
    }
  });

  it('503 for a statement that took too long', async () => expectEnvelope(await app.as(person).get('/api/fake/cancel'), 503));
});

describe('a fault of our own', () => {
  it.each([
    ['a bug', () => new TypeError("Cannot read properties of undefined (reading 'secret') at /app/api/x.ts:1:1")],
    ['a thrown text', () => 'select * from personal_access_tokens'],
    ['nothing at all', () => undefined],
    ['an error with a status of its own', () => Object.assign(new Error('teapot'), { status: 418, expose: true })],
  ])('%s is a generic 500', async (_what, make) => {
    const answer = await provoke(make());
    expectEnvelope(answer, 500);
    expect(answer.body.message).toBe('Internal error');
  });

  it.each([
    ['a status', () => new DomainError('APPROVAL_EXPIRED', 'late')],
    ['another one', () => new DomainError('RESOURCE_NOT_FOUND', 'gone')],
  ])('%s that the route does not declare is a 500 in tests', async (_what, make) => {
    expectEnvelope(await provoke(make()), 500);
  });

  it('a declared refusal passes', async () => {
    expectEnvelope(await provoke(new DomainError('PERMISSION_DENIED', 'no')), 403);
  });
});

describe('PostgreSQL is away', () => {
  it('503 where nobody listens, for reads, writes, sign-in and deliveries', async () => {
    const away = await startApp({ FORGE_WEBHOOK_SECRET: 's' }, 'product');
    try {
      const client = away.as(await buildPerson(away));
      const dead = openDatabase({ url: 'postgresql://nobody@127.0.0.1:1/nothing', poolSize: 1, name: 'dead' });
      Object.assign(away.services, { db: dead });
      const token = away.as(`svc_pat_${'x'.repeat(43)}`);
      const answers = await Promise.all([
        client.get('/api/tasks'),
        client.post('/api/tasks', { title: 'x', project_id: uuidv7() }),
        token.get('/api/auth/me'),
        away.as().post('/api/auth/login', { email: 'a@b.c', password: 'x' }),
        away.as().post('/api/forge/webhooks', undefined, { raw: '{}', headers: { 'x-hub-signature-256': SIGNED_EMPTY } }),
      ]);
      for (const answer of answers) {
        expectEnvelope(answer, 503);
        expect(answer.headers.get('retry-after')).toBe('2');
      }
      expectEnvelope(await client.get('/api/nothing'), 404);
      await dead.destroy();
    } finally {
      await away.close();
    }
  });

  it('503 while no connection is free, and 200 again after', async () => {
    const narrow = openDatabase({ url: app.database.url, poolSize: 1, name: 'narrow' });
    const wide = app.services.db;
    Object.assign(app.services, { db: narrow });
    try {
      const hold = await narrow.transaction();
      expectEnvelope(await app.as(person).get('/api/auth/me'), 503);
      await hold.rollback();
      expect((await app.as(person).get('/api/auth/me')).status).toBe(200);
    } finally {
      Object.assign(app.services, { db: wide });
      await narrow.destroy();
    }
  });

  it('recovers by itself when its connections are cut', async () => {
    await app.services.db.raw(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => app.as(person).get('/api/auth/me')));
    for (const answer of answers) if (answer.status !== 200) expectEnvelope(answer, 503);
    // A connection that is cut may take a moment to break.
    expect((await resend(() => app.as(person).get('/api/auth/me'))).status).toBe(200);
  });
});

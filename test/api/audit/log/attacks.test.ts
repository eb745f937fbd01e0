/** What an admin who reads slowly, or leaves, could cost others. */
import { request } from 'node:http';
import { newId } from '../../../../api/platform/ids.js';
import { buildPerson, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { writeEntry, writeMany } from './entries.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({}, 60_000);
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

/** Starts to read a response, and stops after its head. Returns what leaves. */
const hang = (path: string): Promise<() => void> => {
  const sent = request(`${app.url}${path}`, { headers: { authorization: `Bearer ${team.admin.token}` }, agent: false });
  sent.on('error', () => undefined);
  sent.end();
  return new Promise((resolve) =>
    sent.once('response', (response) => {
      response.pause();
      resolve(() => response.destroy());
    }),
  );
};

it('slow readers of correlations hold two at a time; others are served', async () => {
  const correlation_id = newId();
  for (let n = 0; n < 3; n += 1)
    await writeEntry(app, { team_id: team.team_id, correlation_id, details: { text: 'x'.repeat(4_000_000) } });
  const path = `/api/audit/correlate/${correlation_id}`;
  const left = await Promise.all([hang(path), hang(path)]);
  const answers = Promise.all(Array.from({ length: 22 }, () => app.as(team.admin).get(path)));
  const { admin: other } = await buildTeam(app);
  expect((await app.as(other).get(path)).status).toBe(200);
  expect((await app.as(team.admin).get('/api/audit/logs')).status).toBe(200);
  for (const leave of left) leave();
  const statuses = (await answers).map(({ status }) => status);
  // Two found the line full; of the twenty that waited, a busy machine serves some within their ten seconds.
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThanOrEqual(2);
  expect(statuses).toContain(200);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  await until(async () => (await app.as(team.admin).get(path)).status === 200);
});

it.each(['role', 'plan'])(
  'an admin who loses the %s during an export gets that one and no other',
  async (lost) => {
    await writeMany(app, team.team_id, 1_000);
    const person = await buildPerson(app);
    const seat = { team_id: team.team_id, user_id: person.user_id };
    await app.services.db('memberships').insert({ ...seat, role: 'admin' });
    const exports = Array.from({ length: 6 }, () => app.as(person).post('/api/audit/export', { format: 'json' }));
    await until(async () => (await app.services.db('audit_entries').where({ ...seat, action: 'export' })).length > 0);
    if (lost === 'role') await app.services.db('memberships').where(seat).delete();
    else await app.services.db('teams').where({ team_id: team.team_id }).update({ plan: 'free' });
    const answers = await Promise.all(exports);
    const done = answers.filter(({ status }) => status === 200);
    for (const { status } of answers) expect([200, 403]).toContain(status);
    // Each one that was answered is on record; a refused one left nothing.
    const recorded = await app.services
      .db('audit_entries')
      .where({ ...seat, action: 'export' })
      .pluck('audit_id');
    expect(new Set(recorded)).toEqual(new Set(done.map(({ body }) => body.audit_id as string)));
    expect((await app.as(person).post('/api/audit/export', { format: 'json' })).status).toBe(403);
  },
  60_000,
);

it('a search that takes too long is a 400 that says what helps', async () => {
  const { db } = app.services;
  await writeEntry(app, { team_id: team.team_id });
  expect((await app.as(team.admin).get('/api/audit/logs')).status).toBe(200);
  // Connections that are opened later wait as long as the product does.
  await Promise.all(
    Array.from({ length: 5 }, () => db.raw("select set_config('statement_timeout', '1500', false), pg_sleep(0.1)")),
  );
  await db.raw('alter table audit_entries rename to audit_entries_kept');
  await db.raw('create view audit_entries as select * from audit_entries_kept where pg_sleep(60) is not null');
  try {
    const listed = await app.as(team.admin).get('/api/audit/logs');
    expect([listed.status, listed.body]).toEqual([
      400,
      expect.objectContaining({ error_code: 'INVALID_REQUEST', message: 'The search took too long' }),
    ]);
  } finally {
    await db.raw('drop view audit_entries');
    await db.raw('alter table audit_entries_kept rename to audit_entries');
  }
});

/** What an admin who reads slowly, or leaves, could cost others. */
import { request } from 'node:http';
import { newId } from '../../../../api/core/ids.js';
import { buildPerson, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { until } from '../../../support/worker.js';
import { writeEntry, writeMany } from './entries.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp({}, 30_000);
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
}, 60_000);

it('an admin who is removed during an export gets that one and no other', async () => {
  await writeMany(app, team.team_id, 2_000);
  const person = await buildPerson(app);
  const seat = { team_id: team.team_id, user_id: person.user_id };
  await app.services.db('memberships').insert({ ...seat, role: 'admin' });
  const exports = Array.from({ length: 6 }, () => app.as(person).post('/api/audit/export', { format: 'json' }));
  await until(async () => (await app.services.db('audit_entries').where({ ...seat, action: 'export' })).length > 0);
  await app.services.db('memberships').where(seat).delete();
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
}, 60_000);

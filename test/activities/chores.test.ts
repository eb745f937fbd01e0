import { choreActivities } from '../../activities/chores.js';
import { startApp, type TestApp } from '../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

it('forgets the callers whose window has closed, and only those', async () => {
  const { db } = app.services;
  await db('rate_limits').insert([
    { key: 'login:192.0.2.1', points: 3, expire: Date.now() - 1 },
    { key: 'login:192.0.2.2', points: 3, expire: Date.now() + 60_000 },
  ]);
  expect(await choreActivities(app.services).runChore('rate-limits')).toBe('forgot 1 callers');
  expect(await db('rate_limits').pluck('key')).toEqual(['login:192.0.2.2']);
});

it('signs the heads of the chains', async () => {
  await app.as().post('/api/auth/login', { email: 'nobody@test.example', password: 'x' });
  expect(await choreActivities(app.services).runChore('audit-checkpoint')).toBe('signed the heads of 1 chains');
});

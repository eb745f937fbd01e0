import { v7 as uuidv7 } from 'uuid';
import { maintenanceActivities } from '../../activities/maintenance.js';
import { buildPerson } from '../factories/people.js';
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
  expect(await maintenanceActivities(app.services).runMaintenanceJob('rate-limits')).toBe('deleted 1 rate limit windows');
  expect(await db('rate_limits').pluck('key')).toEqual(['login:192.0.2.2']);
});

it('forgets codes, counts, mails, devices and sessions whose time is over, and only those', async () => {
  const { db } = app.services;
  const { user_id } = await buildPerson(app);
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const code = { purpose: 'login', code_id: uuidv7(), code_hash: null };
  await db('one_time_codes').insert([
    { ...code, address: 'old', expires_at: ago(2) },
    { ...code, address: 'new', expires_at: ago(0.5) },
  ]);
  await db('login_attempts').insert([
    { subject: 'old', attempts: 3, first_attempt_at: ago(2) },
    { subject: 'locked', attempts: 3, first_attempt_at: ago(2), locked_until: ago(-1) },
    { subject: 'new', attempts: 3 },
  ]);
  const mail = { template: 'password-changed', state: 'sent', correlation_id: uuidv7() };
  await db('mails').insert([
    { ...mail, recipient: 'old', created_at: ago(31) },
    { ...mail, recipient: 'new', created_at: ago(29) },
  ]);
  const device = { user_id, user_agent: 'old', token_hash: Buffer.from('a'), expires_at: ago(1) };
  const [{ device_id }] = await db('trusted_devices').insert(device).returning('device_id');
  await db('trusted_devices').insert({ user_id, user_agent: 'new', token_hash: Buffer.from('b'), expires_at: ago(-1) });
  await db('sessions').insert([
    { user_id, user_agent: 'old', expires_at: ago(-1), ended_at: ago(31) },
    { user_id, user_agent: 'older', expires_at: ago(31) },
    { user_id, user_agent: 'new', expires_at: ago(29), device_id },
  ]);
  const run = () => maintenanceActivities(app.services).runMaintenanceJob('accounts');
  expect(await run()).toBe('deleted 6 codes, counts, mails, sessions and devices');
  expect(await db('one_time_codes').pluck('address')).toEqual(['new']);
  expect(await db('login_attempts').orderBy('subject').pluck('subject')).toEqual(['locked', 'new']);
  expect(await db('mails').pluck('recipient')).toEqual(['new']);
  expect(await db('trusted_devices').pluck('user_agent')).toEqual(['new']);
  expect(await db('sessions').whereNotNull('user_agent').select('user_agent', 'device_id')).toEqual([
    { user_agent: 'new', device_id: null },
  ]);
  expect(await run()).toBe('deleted 0 codes, counts, mails, sessions and devices');
});

it('deletes notifications after 90 days, read or not', async () => {
  const { db } = app.services;
  const { user_id } = await buildPerson(app);
  const daysAgo = (days: number) => uuidv7({ msecs: Date.now() - days * 86_400_000 });
  const rows = Array.from({ length: 1_001 }, () => ({ notification_id: daysAgo(91), user_id, kind: 'message', message: 'old' }));
  await db.batchInsert('notifications', [...rows, { notification_id: daysAgo(89), user_id, kind: 'message', message: 'new' }]);
  const run = () => maintenanceActivities(app.services).runMaintenanceJob('notifications');
  expect(await run()).toBe('deleted 1001 notifications');
  expect(await db('notifications').where({ user_id }).pluck('message')).toEqual(['new']);
  expect(await run()).toBe('deleted 0 notifications');
});

it('signs the heads of the chains', async () => {
  await app.as().post('/api/auth/login', { email: 'nobody@test.example', password: 'x' });
  expect(await maintenanceActivities(app.services).runMaintenanceJob('audit-checkpoint')).toBe('signed the heads of 1 chains');
});

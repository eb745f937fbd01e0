import { spawnSync } from 'node:child_process';
import { serviceContext } from '../../api/platform/context.js';
import { listMails } from '../../api/platform/mail/list-mails.js';
import { COMMANDS, usage } from '../../scripts/admin/commands.js';
import { buildPerson, buildTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';

// npm run admin: operator commands without a browser.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const db = () => app.services.db;
const command = (name: string, about = '', values: Record<string, string | boolean> = {}): Promise<string[]> => {
  const found = COMMANDS[name];
  if (!found) throw new Error(`no command ${name}`);
  return found.run(serviceContext(app.services, 'operator'), { about, values });
};
const getStatus = async (user_id: string) => (await db()('users').where({ user_id }).first()).status;

it('makes an account that is found in the list, and nowhere twice', async () => {
  const [line] = await command('create-user', '', { email: 'Nina@op.test', name: 'Nina', admin: true });
  expect(line).toMatch(/^created Nina@op\.test \([0-9a-f-]{36}\), password \S{20}$/);
  const [listed, ...more] = await command('list-users', 'nina@op');
  expect(more).toEqual([]);
  expect(listed).toMatch(/active.*nina@op\.test.*admin$/);
  await expect(command('create-user', '', { email: 'nina@op.test', name: 'Nina' })).rejects.toThrow('already has an account');
  await expect(command('create-user', '', { name: 'Nina' })).rejects.toThrow('--email');
});

it('suspends, reinstates and unlocks by address or id, under the operator’s name', async () => {
  const ada = await buildPerson(app);
  expect(await command('suspend', ada.email.toUpperCase(), { reason: 'Lost laptop' })).toEqual(['suspended']);
  expect(await getStatus(ada.user_id)).toBe('suspended');
  expect(await command('reinstate', ada.user_id)).toEqual(['active']);
  expect(await command('unlock', ada.user_id)).toEqual(['unlocked, active']);
  const entries = await db()('audit_entries').where({ entity_id: ada.user_id }).orderBy('timestamp');
  expect(entries).toMatchObject([
    { action: 'suspend', severity: 'HIGH', actor_type: 'system', user_id: null },
    { action: 'reinstate', severity: 'HIGH', actor_type: 'system' },
  ]);
  await expect(command('suspend', ada.email)).rejects.toThrow('--reason');
  await expect(command('suspend', 'nobody@op.test', { reason: 'x' })).rejects.toThrow('User not found');
});

it('keeps the last administrator', async () => {
  await db()('users').where({ role: 'admin' }).update({ role: 'user' });
  const root = await buildPerson(app, { role: 'admin' });
  await expect(command('suspend', root.email, { reason: 'x' })).rejects.toThrow('At least one administrator');
  await expect(command('deprovision', root.email, { reason: 'x' })).rejects.toThrow('At least one administrator');
});

it('turns two-factor sign-in off for a lost device, tells the person, and says when it was off', async () => {
  const ada = await buildPerson(app);
  await db()('users')
    .where({ user_id: ada.user_id })
    .update({ two_factor_secret: Buffer.alloc(8), two_factor_enabled_at: new Date() });
  await db()('recovery_codes').insert({ user_id: ada.user_id, code_hash: Buffer.alloc(32) });
  expect(await command('reset-2fa', ada.email)).toEqual(['disabled']);
  expect(await command('reset-2fa', ada.email)).toEqual(['was not enabled']);
  expect((await app.as(ada).get('/api/auth/me')).body.two_factor_enabled).toBe(false);
  expect(await db()('recovery_codes').where({ user_id: ada.user_id })).toEqual([]);
  expect(await listMails(app.services, ada.email)).toMatchObject([{ subject: 'Two-factor authentication disabled' }]);
  const entries = await db()('audit_entries').where({ entity_id: ada.user_id });
  expect(entries).toMatchObject([{ action: 'two_factor_off', severity: 'HIGH', actor_type: 'system' }]);
});

it('deprovisions a user with a successor, and prints the progress', async () => {
  const team = await buildTeam(app);
  await expect(command('deprovision', team.admin.email, { reason: 'Left' })).rejects.toThrow('reassign_to');
  const heir = { reason: 'Left', 'reassign-to': team.guest.email };
  const [line] = await command('deprovision', team.admin.email, heir);
  expect(line).toMatch(/^job [0-9a-f-]{36} is queued/);
  expect(await command('job', line?.split(' ')[1])).toEqual(['queued', '  deactivateAutomations  {"automations":0}']);
  expect(await getStatus(team.admin.user_id)).toBe('deprovisioned');
});

it('puts a team on another plan', async () => {
  const { team_id } = await buildTeam(app);
  expect(await command('set-plan', team_id, { plan: 'free' })).toEqual([`team ${team_id} is on free`]);
  expect(await command('set-plan', team_id, { plan: 'scale' })).toEqual([`team ${team_id} is on scale, with audit_logs`]);
  await expect(command('set-plan', team_id, { plan: 'gold' })).rejects.toThrow('--plan');
  await expect(command('set-plan', 'garbage', { plan: 'free' })).rejects.toThrow('Team not found');
});

it.each([
  [['create-user', '--help'], 0, 'stdout'],
  [['create-user', '--unknown'], 2, 'stderr'],
] as const)('prints the commands for %j', (args, status, stream) => {
  const ended = spawnSync(process.execPath, ['dist/scripts/admin.js', ...args], { encoding: 'utf8' });
  expect(ended.status).toBe(status);
  expect(ended[stream]).toContain('create-user --email');
  expect(ended.stderr).not.toMatch(/^\s+at /m);
});

it('says how each is called', () => {
  for (const name of Object.keys(COMMANDS)) expect(usage()).toContain(`npm run admin -- ${name} `);
});

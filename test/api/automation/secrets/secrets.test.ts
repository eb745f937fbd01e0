import { decryptEnvelope, encryptField, encryptEnvelope, decryptField } from '../../../../api/platform/crypto/encryption.js';
import { findSecrets, openSecrets, getOwner } from '../../../../api/automation/secrets/vault.js';
import { issueToken } from '../../../../api/identity/auth/authenticate.js';
import { v7 as uuidv7 } from 'uuid';
import { buildPerson, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

const VALUE = 'canary-value-of-a-secret';
const save = (name: string, value: unknown = VALUE, person: Person = team.admin, more: object = {}) =>
  app.as(person).post('/api/automations/secrets', { team_id: team.team_id, name, value, ...more });
/** A secret that any author may use. */
const saveForExample = (name: string) => save(name, VALUE, team.admin, { allowed_hosts: ['example.com'] });
const remove = (name: string, query = '') =>
  app.as(team.admin).delete(`/api/automations/secrets/${encodeURIComponent(name)}?team_id=${team.team_id}${query}`);
const list = async () => (await app.as(team.admin).get(`/api/automations/secrets?team_id=${team.team_id}`)).body;
const getValue = async (name: string) =>
  openSecrets(app.services.config, team.team_id, await findSecrets(app.services, team.team_id, [name])).get(name);
const sending = (handle: string) => ({
  type: 'http_request',
  params: { method: 'POST', url: 'https://example.com/', body: handle },
});
const automate = async (
  name: string,
  actions: object[],
  person: Person = team.member,
  place: object = { team_id: team.team_id },
) => (await app.as(person).post('/api/automations', { name, trigger_type: 'task.created', actions, ...place })).body;

describe('the vault over the API', () => {
  it('saves, overwrites, lists names only, deletes; each leaves a HIGH entry without the value', async () => {
    expect(await save('TOKEN')).toMatchObject({ status: 200, body: { saved: true, name: 'TOKEN' } });
    expect((await save('  TOKEN ', 'another')).body).toEqual({ saved: true, name: 'TOKEN' });
    await save('A');
    expect(await list()).toEqual({
      team_id: team.team_id,
      secrets: ['A', 'TOKEN'],
      details: [
        { name: 'A', allowed_hosts: [] },
        { name: 'TOKEN', allowed_hosts: [] },
      ],
    });
    expect(await getValue('TOKEN')).toBe('another');
    expect(await remove('TOKEN')).toMatchObject({ status: 200, body: { deleted: true, name: 'TOKEN' } });
    expect((await remove('TOKEN')).status).toBe(404);
    const entries = await app.services
      .db('audit_entries')
      .where({ team_id: team.team_id, feature: 'secrets' })
      .orderBy('timestamp');
    expect(entries.map(({ action, severity, entity_id }) => [action, severity, entity_id])).toEqual([
      ['create', 'HIGH', 'TOKEN'],
      ['update', 'HIGH', 'TOKEN'],
      ['create', 'HIGH', 'A'],
      ['delete', 'HIGH', 'TOKEN'],
    ]);
    expect(await app.services.db('activity').where({ team_id: team.team_id })).toEqual([]);
  });

  it.each([
    ['', 422],
    ['   ', 422],
    [undefined, 422],
    [null, 422],
    [7, 422],
    ['x'.repeat(81), 422],
    ['x'.repeat(80), 200],
    ['🚀'.repeat(80), 200],
    ['Deploy key 🚀', 200],
    ['a/b', 400],
    ['a{b', 400],
    ['a}b', 400],
    ['a\nb', 400],
    ['a\0b', 400],
    ['a\u0085b', 400],
    ['a\ud800b', 422],
    ['__proto__', 200],
  ])('name %j: %i', async (name, status) => {
    expect((await save(name as string)).status).toBe(status);
  });

  it.each([
    ['', 422],
    [undefined, 422],
    [null, 422],
    [['x'], 422],
    ['x', 200],
    ['x'.repeat(65_536), 200],
    ['x'.repeat(65_537), 422],
    ['ä'.repeat(32_769), 422],
    [' kept as it is\n', 200],
  ])('a value: %#', async (value, status) => {
    const answer = await app.as(team.admin).post('/api/automations/secrets', { team_id: team.team_id, name: 'V', value });
    expect(answer.status).toBe(status);
    if (status === 200) expect(await getValue('V')).toBe(value);
    else expect(JSON.stringify(answer.body)).not.toContain('xxxx');
  });

  it('is for admins, by token too; not while impersonating one, nor for another team', async () => {
    for (const person of [team.guest, team.member, team.manager, await buildPerson(app)]) {
      expect((await save('NO', VALUE, person)).status).toBe(403);
      expect((await app.as(person).get(`/api/automations/secrets?team_id=${team.team_id}`)).status).toBe(403);
    }
    const reader = await buildToken(app, team.admin, ['tasks:read', 'automations:read']);
    const unscoped = await app.as(reader).post('/api/automations/secrets', { team_id: team.team_id, name: 'T', value: 'v' });
    expect([unscoped.status, unscoped.body.message]).toEqual([403, 'Token is missing the required scope: automations:write']);
    const token = await buildToken(app, team.admin, ['automations:write']);
    expect((await app.as(token).post('/api/automations/secrets', { team_id: team.team_id, name: 'T', value: 'v' })).status).toBe(
      200,
    );
    const root = await buildPerson(app, { role: 'admin' });
    const session_id = uuidv7();
    const session = { session_id, user_id: team.admin.user_id, impersonator_id: root.user_id };
    await app.services.db('sessions').insert({ ...session, expires_at: app.services.db.raw("now() + interval '1 day'") });
    const acting = app.as(await issueToken(app.services, team.admin.user_id, session_id, { impersonatorId: root.user_id }));
    expect((await acting.post('/api/automations/secrets', { team_id: team.team_id, name: 'X', value: 'v' })).status).toBe(403);
    expect((await acting.delete(`/api/automations/secrets/T?team_id=${team.team_id}`)).status).toBe(403);
    expect((await acting.get(`/api/automations/secrets?team_id=${team.team_id}`)).body.secrets).toEqual(['T']);
    expect((await app.as(team.admin).get('/api/automations/secrets')).status).toBe(422);
  });

  it('an Idempotency-Key is not taken, so that nothing of the body is kept', async () => {
    const options = { headers: { 'idempotency-key': 'once' } };
    const body = { team_id: team.team_id, name: 'K', value: VALUE };
    await app.as(team.admin).post('/api/automations/secrets', body, options);
    expect((await app.as(team.admin).post('/api/automations/secrets', { ...body, value: 'v2' }, options)).status).toBe(200);
    expect(await getValue('K')).toBe('v2');
    expect(await app.services.db('idempotency_keys').where({ key: 'once' })).toEqual([]);
  });

  it('parallel saves of one name leave one secret that opens', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => save('RACE', `value ${i}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await getValue('RACE')).toMatch(/^value \d+$/);
  });

  it('goes with its team', async () => {
    await save('TOKEN');
    expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
    expect(await app.services.db('team_secrets').where({ team_id: team.team_id })).toEqual([]);
  });
});

describe('automations that refer to a secret', () => {
  it('warn admins while it is missing, and no longer once it is saved; nobody else learns whether it is there', async () => {
    const actions = [sending('{{secret:KEY}} {{ secret: OTHER }}')];
    await saveForExample('OTHER');
    const made = await automate('Tell', actions, team.admin);
    expect(made.warnings).toEqual(['Secret KEY does not exist yet']);
    for (const person of [team.member, team.manager]) expect((await automate('Tell', actions, person)).warnings).toEqual([]);
    const path = `/api/automations/${made.automation_id}`;
    expect((await app.as(team.manager).patch(path, { name: 'Told' })).body.warnings).toEqual([]);
    await saveForExample('KEY');
    expect((await app.as(team.admin).patch(path, { name: 'Told' })).body.warnings).toEqual([]);
    expect((await automate('Mine', actions, team.member, {})).warnings).toEqual([
      'Personal automations have no secrets: KEY will be missing',
      'Personal automations have no secrets: OTHER will be missing',
    ]);
  });

  it('keep it: 409 names live definitions, active or not, and the frozen rest of a run; force takes it', async () => {
    await saveForExample('K "1"');
    const handle = '{{secret:K "1"}}';
    await automate('First', [sending(handle)]);
    const off = await automate('Second', [sending('{{ secret: K "1" }}')]);
    await app.as(team.member).patch(`/api/automations/${off.automation_id}`, { is_active: false });
    await automate('Unlike', [sending('{{secret:K "12"}} K "1"')]);
    const gone = await automate('Gone', [sending(handle)]);
    await app.as(team.member).delete(`/api/automations/${gone.automation_id}`);
    const run = await buildRun(app, team, { actions: [GATE, sending(handle)] });
    const later = { actions: [GATE, sending('nothing')] };
    await app.as(team.member).patch(`/api/automations/${run.automation_id}`, later);
    const refused = await remove('K "1"');
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error_code: 'RESOURCE_CONFLICT',
        detail: 'Referenced by automations: First, Second, Deploy on merge',
        automations: [
          { name: 'First' },
          { automation_id: off.automation_id, name: 'Second' },
          { automation_id: run.automation_id, name: 'Deploy on merge' },
        ],
      },
    });
    expect(await getValue('K "1"')).toBe(VALUE);
    expect((await remove('K "1"', '&force=maybe')).status).toBe(422);
    expect((await remove('K "1"', '&force=true')).status).toBe(200);
    expect(await getValue('K "1"')).toBeUndefined();
  });

  it('do not keep what a run has behind it, nor what another team names', async () => {
    await saveForExample('KEY');
    const run = await buildRun(app, team, { actions: [sending('{{secret:KEY}}'), GATE] });
    await app.as(team.member).patch(`/api/automations/${run.automation_id}`, { actions: [GATE] });
    const other = await buildTeam(app);
    await automate('Theirs', [sending('{{secret:KEY}}')], other.member, { team_id: other.team_id });
    expect((await remove('KEY')).status).toBe(200);
  });
});

describe('what is stored', () => {
  const toRow = (name: string) => app.services.db('team_secrets').where({ team_id: team.team_id, name }).first();

  it('holds no value, and opens in its own row only', async () => {
    await save('A');
    await save('B');
    const { rows } = await app.services.db.raw<{ rows: { text: string }[] }>('select s::text as text from team_secrets s');
    const hex = Buffer.from(VALUE).toString('hex');
    for (const { text } of rows) expect(text.includes(VALUE) || text.includes(hex)).toBe(false);
    const [a, b] = [await toRow('A'), await toRow('B')];
    const owner = getOwner(team.team_id, 'A');
    expect(decryptEnvelope(app.services.config, owner, a)).toBe(VALUE);
    const foreign = [getOwner(team.team_id, 'B'), getOwner(uuidv7(), 'A')];
    for (const other of foreign) expect(() => decryptEnvelope(app.services.config, other, a)).toThrow();
    expect(() => decryptEnvelope(app.services.config, owner, { ...a, sealed_value: b.sealed_value })).toThrow();
    const bent = Buffer.from(a.sealed_value);
    bent.writeUInt8((bent.at(-1) as number) ^ 1, bent.length - 1);
    expect(() => decryptEnvelope(app.services.config, owner, { ...a, sealed_value: bent })).toThrow();
    expect(() => decryptEnvelope(app.services.config, owner, { ...a, sealed_value: a.sealed_value.subarray(0, 20) })).toThrow();
  });

  it('decrypts under any configured key, encrypts under the newest, and names a missing one', () => {
    const [first, second] = ['1', '2'].map((seed) => Buffer.alloc(32, seed).toString('base64')) as [string, string];
    const old = { SECRETS_MASTER_KEY: first, SECRETS_MASTER_KEY_PREVIOUS: [] };
    const both = { SECRETS_MASTER_KEY: second, SECRETS_MASTER_KEY_PREVIOUS: [first] };
    const alone = { SECRETS_MASTER_KEY: second, SECRETS_MASTER_KEY_PREVIOUS: [] };
    const before = encryptEnvelope(old, 'o', 'v');
    expect(decryptEnvelope(both, 'o', before)).toBe('v');
    expect(() => decryptEnvelope(alone, 'o', before)).toThrow(/^Sealed under the master key [0-9a-f]{8}, which is not at hand$/);
    expect(decryptEnvelope(alone, 'o', encryptEnvelope(both, 'o', 'v'))).toBe('v');
    expect(() => decryptField(both, 'mail', 'o', encryptField(both, 'two-factor', 'o', 'v'))).toThrow();
  });
});

import { spawn } from 'node:child_process';
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import {
  type EncryptionConfig,
  masterKeyIds,
  decryptEnvelope,
  encryptField,
  encryptEnvelope,
  decryptField,
} from '../../../../api/platform/crypto/encryption.js';
import { listKeyUse, rotateKeys } from '../../../../api/automation/secrets/rotate-keys.js';
import { SEALED_COLUMNS } from '../../../../api/automation/secrets/sealed-columns.js';
import { getOwner } from '../../../../api/automation/secrets/vault.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

let app: TestApp;
let team: TestTeam;
const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const old: EncryptionConfig = { SECRETS_MASTER_KEY: first, SECRETS_MASTER_KEY_PREVIOUS: [] };
const both: EncryptionConfig = { SECRETS_MASTER_KEY: second, SECRETS_MASTER_KEY_PREVIOUS: [first] };
const alone: EncryptionConfig = { SECRETS_MASTER_KEY: second, SECRETS_MASTER_KEY_PREVIOUS: [] };
const [oldId, newId] = [masterKeyIds(old)[0] as string, masterKeyIds(both)[0] as string];
/** More than one batch. */
const SECRETS = 600;

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  for (const table of ['team_secrets', 'mails']) await app.services.db(table).delete();
});

const vault = (keys: EncryptionConfig) => ({ db: app.services.db, config: { ...app.services.config, ...keys } });
const secret = (name: string, keys: EncryptionConfig) => ({
  team_id: team.team_id,
  name,
  ...encryptEnvelope(keys, getOwner(team.team_id, name), `value of ${name}`),
  updated_by: team.admin.user_id,
});
const insertSecrets = (count: number) =>
  app.services.db.batchInsert(
    'team_secrets',
    Array.from({ length: count }, (_, i) => secret(`S${i}`, old)),
    500,
  );
const secrets = () => app.services.db('team_secrets').orderBy('name');
const insertMail = async (sealed: (id: string) => Buffer) => {
  const mail_id = uuidv7();
  await app.services
    .db('mails')
    .insert({ mail_id, recipient: 'a@b.test', template: 'x', sealed_data: sealed(mail_id), correlation_id: mail_id });
  return mail_id;
};
/** As the versions before keys had names. */
function sealUnnamed(owner: string, text: string): Buffer {
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(first, 'base64'), '', 'assent mail', 32));
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([1]), iv, cipher.getAuthTag(), body]);
}

it('knows every column of the database that holds what was sealed', async () => {
  const { rows } = await app.services.db.raw<{ rows: { table_name: string; column_name: string }[] }>(
    "select table_name, column_name from information_schema.columns where table_schema = 'public' and data_type = 'bytea'",
  );
  // Hashes open under no key, a sealed value has a data key of its own, and the masks of a job open under the token of its runner.
  const others = /_hash$|_sha256$|^masked_|^(address|fingerprint|sealed_value|previous_sealed_value)$/;
  const found = rows.filter(({ column_name }) => !others.test(column_name)).map((row) => `${row.table_name}.${row.column_name}`);
  expect(found.toSorted()).toEqual(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`).toSorted());
});

it('seals the data keys and the mails anew, and nothing else; then the old key may go', async () => {
  await insertSecrets(3);
  const mails = [await insertMail((id) => encryptField(old, 'mail', id, 'a')), await insertMail((id) => sealUnnamed(id, 'b'))];
  const before = await secrets();
  expect(await listKeyUse(vault(both))).toEqual([
    { table: 'team_secrets', key_id: oldId, count: 3 },
    { table: 'mails', key_id: oldId, count: 1 },
    { table: 'mails', key_id: 'unnamed', count: 1 },
  ]);
  expect(await rotateKeys(vault(both))).toEqual({ resealed: 5, unopened: [] });
  expect(await rotateKeys(vault(both))).toEqual({ resealed: 0, unopened: [] });
  const after = await secrets();
  expect(after.map(({ sealed_value }) => sealed_value)).toEqual(before.map(({ sealed_value }) => sealed_value));
  for (const row of after) expect(decryptEnvelope(alone, getOwner(row.team_id, row.name), row)).toBe(`value of ${row.name}`);
  const texts = await app.services.db('mails').orderBy('mail_id');
  expect(texts.map((mail) => decryptField(alone, 'mail', mail.mail_id, mail.sealed_data))).toEqual(['a', 'b']);
  expect(texts.map(({ mail_id }) => mail_id)).toEqual(mails);
});

it('seals both secrets of a webhook anew', async () => {
  const webhook_id = uuidv7();
  const [current, previous] = ['whsec_current', 'whsec_previous'].map((text) => encryptEnvelope(old, webhook_id, text));
  await app.services.db('webhooks').insert({
    webhook_id,
    team_id: team.team_id,
    url: 'https://example.com/',
    events: ['*'],
    ...current,
    previous_data_key: previous?.data_key,
    previous_sealed_value: previous?.sealed_value,
    previous_until: new Date(),
    secret_prefix: 'whsec_curr...',
    created_by: team.admin.user_id,
  });
  expect(await rotateKeys(vault(both))).toEqual({ resealed: 2, unopened: [] });
  const row = await app.services.db('webhooks').where({ webhook_id }).first();
  const { previous_data_key: data_key, previous_sealed_value: sealed_value } = row;
  expect(decryptEnvelope(alone, webhook_id, row)).toBe('whsec_current');
  expect(decryptEnvelope(alone, webhook_id, { data_key, sealed_value })).toBe('whsec_previous');
  await app.services.db('webhooks').delete();
});

it('skips values that no configured key decrypts, reports them, and rotates the rest', async () => {
  const lost: EncryptionConfig = { SECRETS_MASTER_KEY: randomBytes(32).toString('base64'), SECRETS_MASTER_KEY_PREVIOUS: [] };
  await app.services.db('team_secrets').insert([secret('A', lost), secret('B', old)]);
  expect(await rotateKeys(vault(both))).toEqual({ resealed: 1, unopened: [{ table: 'team_secrets', count: 1 }] });
  expect(await listKeyUse(vault(both))).toContainEqual({ table: 'team_secrets', key_id: masterKeyIds(lost)[0], count: 1 });
});

it('works in batches, and never overwrites a concurrent change', async () => {
  await insertSecrets(300);
  const { data_key, sealed_value } = secret('S299', both);
  let told = 0;
  const rotation = rotateKeys(vault(both), () => {
    told += 1;
  });
  await app.services.db('team_secrets').where({ name: 'S299' }).update({ data_key, sealed_value });
  await rotation;
  expect(told).toBe(2);
  const row = await app.services.db('team_secrets').where({ name: 'S299' }).first();
  expect(decryptEnvelope(alone, getOwner(team.team_id, 'S299'), row)).toBe('value of S299');
});

/** The command as an operator runs it; `onOutput` sees what it prints. */
async function command(args: string[], onOutput: (text: string, kill: () => void) => void = () => undefined) {
  const child = spawn(
    process.execPath,
    [join(resolve(import.meta.dirname, '../../../..'), 'dist/scripts/secrets-rotate.js'), ...args],
    {
      env: {
        ...process.env,
        NODE_ENV: 'test',
        DATABASE_URL: app.database.url,
        DATA_DIR: app.services.config.DATA_DIR,
        SECRETS_MASTER_KEY: second,
        SECRETS_MASTER_KEY_PREVIOUS: ` ${first},`,
      },
    },
  );
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    onOutput(output, () => child.kill('SIGKILL'));
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { output, code, signal };
}

it('the killed command leaves everything readable and resumes at its cursor', async () => {
  await insertSecrets(SECRETS);
  // The last row in the order of the key: the command has to wait at it, so that the kill never comes too late.
  const holder = await app.services.db.transaction();
  await holder('team_secrets').where({ name: 'S99' }).forUpdate();
  const killed = await command([], (output, kill) => output.includes('sealed anew') && kill());
  await holder.rollback();
  expect(killed).toMatchObject({ signal: 'SIGKILL' });
  const use = await listKeyUse(vault(both));
  expect(use.map(({ key_id }) => key_id).toSorted()).toEqual([oldId, newId].toSorted());
  for (const row of await secrets())
    expect(decryptEnvelope(both, getOwner(row.team_id, row.name), row)).toBe(`value of ${row.name}`);
  const check = await command(['--check']);
  expect(check).toMatchObject({ code: 0 });
  expect(check.output).toMatch(new RegExp(`${newId}  newest +team_secrets \\d+\n +${oldId}  opens only +team_secrets \\d+`));
  const done = await command([]);
  expect(done).toMatchObject({ code: 0 });
  expect(done.output).toMatch(new RegExp(`${oldId}  opens only +nothing`));
  expect(await listKeyUse(vault(both))).toEqual([{ table: 'team_secrets', key_id: newId, count: SECRETS }]);
});

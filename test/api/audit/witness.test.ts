import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { checkpointFile, writeCheckpoint } from '../../../api/audit/checkpoint.js';
import { sealEntries } from '../../../api/audit/seal-entries.js';
import { publicKeyDir, trustedKeys } from '../../../api/audit/signing-keys.js';
import { verifyChain, type VerifyOptions } from '../../../api/audit/verify-chain.js';
import { type AuditLog, cutTail, newTeamId, openAuditLog, rewriteChain, tamper, writeEntries } from './support.js';

/** Tampering that only a signed checkpoint shows, or only a copy of the checkpoints stored elsewhere. */
let log: AuditLog;
let db: Knex;
let team: string;
let file: string;
let witness: string;

beforeEach(async () => {
  log = await openAuditLog();
  db = log.db;
  team = newTeamId();
  file = checkpointFile(log.config);
  witness = join(log.config.DATA_DIR, 'witness.jsonl');
  await writeEntries(db, team, 5);
  await writeCheckpoint(log);
});
afterEach(() => log.close());

const breaks = async (options?: VerifyOptions) => (await verifyChain(log, options)).breaks;
const editEntry = () => tamper(db, [`update audit_entries set action = 'read' where team_id = ?`, team]);
/** Five more entries, and the checkpoint that has seen them. */
async function extendLog(): Promise<void> {
  await writeEntries(db, team, 5);
  await writeCheckpoint(log);
}
const newKey = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const signWith = (AUDIT_SIGNING_KEY: string, previous?: string): AuditLog => ({
  ...log,
  config: { ...log.config, AUDIT_SIGNING_KEY, AUDIT_SIGNING_KEY_PREVIOUS: previous },
});

describe('without a witness', () => {
  it('a cut tail with its head and its pending rows contradicts the checkpoint that saw it', async () => {
    await extendLog();
    await writeEntries(db, team, 2);
    await cutTail(db, team, 8);
    await tamper(db, 'delete from audit_pending', [
      'delete from audit_entries e where team_id = ? and not exists (select from audit_seals s where s.audit_id = e.audit_id)',
      team,
    ]);
    expect(await breaks()).toEqual([
      expect.objectContaining({
        kind: 'checkpoint_contradicted',
        chain: team,
        sequence: 10,
        detail: expect.stringContaining('Line 2'),
      }),
    ]);
  });

  it('a tail that no checkpoint has seen is gone without a trace', async () => {
    await writeEntries(db, team, 5);
    await sealEntries(db);
    await cutTail(db, team, 6);
    expect(await breaks()).toEqual([]);
  });

  it('rejects a repeated checkpoint', async () => {
    await extendLog();
    const [first = ''] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${first}\n`, { flag: 'a' });
    expect(await breaks()).toEqual([
      expect.objectContaining({ kind: 'checkpoint_unlinked', detail: expect.stringContaining('Line 3') }),
    ]);
  });

  it('a key of one’s own does not count, not even when it lies with the published ones', async () => {
    await editEntry();
    await rewriteChain(db, team);
    rmSync(file);
    await writeCheckpoint(signWith(newKey()));
    expect(readdirSync(publicKeyDir(log.config))).toHaveLength(2);
    expect(await breaks()).toEqual([expect.objectContaining({ kind: 'checkpoint_key_unknown' })]);
  });
});

describe('a witness', () => {
  beforeEach(async () => {
    await extendLog();
    copyFileSync(file, witness);
  });

  it('agrees with what has grown since', async () => {
    await extendLog();
    expect(await verifyChain(log, { witness })).toMatchObject({ checkpoints: 3, breaks: [] });
  });

  it.each([
    ['the newest lines, and the tail with them', async () => cutTail(db, team, 6), (lines: string[]) => lines.slice(0, 1)],
    ['all lines, and the first entries', async () => editEntry().then(() => rewriteChain(db, team)), () => []],
  ])('misses what was taken away: %s', async (_what, change, cut) => {
    await change();
    writeFileSync(
      file,
      cut(readFileSync(file, 'utf8').split('\n').slice(0, -1))
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(await breaks()).toEqual([]);
    const found = await breaks({ witness });
    expect(found.map(({ kind, chain }) => [kind, chain])).toEqual([
      ['checkpoint_contradicted', team],
      ['witness_contradicted', null],
    ]);
    expect(found[1]?.detail).toContain(`is missing in ${file}`);
  });

  it('contradicts a rewritten chain under checkpoints that were signed anew with the service’s own key', async () => {
    await editEntry();
    await rewriteChain(db, team);
    rmSync(file);
    await writeCheckpoint(log);
    await writeCheckpoint(log);
    expect(await breaks()).toEqual([]);
    expect(await breaks({ witness })).toEqual([
      expect.objectContaining({
        kind: 'checkpoint_contradicted',
        chain: team,
        sequence: 5,
        detail: expect.stringContaining(witness),
      }),
      expect.objectContaining({ kind: 'witness_contradicted', detail: expect.stringContaining('Line 1') }),
    ]);
  });

  it('contradicts an older checkpoint file that was put back', async () => {
    await extendLog();
    copyFileSync(file, `${file}.old`);
    await extendLog();
    copyFileSync(file, witness);
    copyFileSync(`${file}.old`, file);
    expect(await breaks({ witness })).toEqual([
      expect.objectContaining({ kind: 'witness_contradicted', detail: expect.stringContaining('Line 4') }),
    ]);
  });

  it('must have kept something', async () => {
    await expect(verifyChain(log, { witness: `${witness}.none` })).rejects.toThrow('missing or holds no checkpoint');
  });
});

describe('after the signing key was replaced', () => {
  const rotate = async () => {
    const before = log.config.AUDIT_SIGNING_KEY;
    log = signWith(newKey());
    await extendLog();
    return before;
  };

  it('lines name their keys, and the earlier key keeps its lines true', async () => {
    const before = await rotate();
    expect(
      readFileSync(file, 'utf8')
        .match(/"key_id":"\w{16}"/g)
        ?.map((match) => match),
    ).toEqual(
      [...trustedKeys(signWith(before).config).keys(), ...trustedKeys(log.config).keys()].map((id) => `"key_id":"${id}"`),
    );
    expect(await breaks()).toEqual([
      expect.objectContaining({ kind: 'checkpoint_key_unknown', detail: expect.stringContaining('Line 1') }),
    ]);
    log = signWith(log.config.AUDIT_SIGNING_KEY, before);
    expect(await verifyChain(log)).toMatchObject({ checkpoints: 2, breaks: [] });
    const published = readdirSync(publicKeyDir(log.config)).map((name) =>
      readFileSync(join(publicKeyDir(log.config), name), 'utf8'),
    );
    log = signWith(log.config.AUDIT_SIGNING_KEY, published.join(''));
    expect(await breaks()).toEqual([]);
  });

  it('the keys that a witness kept are the only ones that count', async () => {
    const keys = join(log.config.DATA_DIR, 'kept');
    mkdirSync(keys);
    await rotate();
    const published = publicKeyDir(log.config);
    for (const name of readdirSync(published)) copyFileSync(join(published, name), join(keys, name));
    expect(await breaks({ keys: trustedKeys(log.config, keys) })).toEqual([]);
    log = signWith(newKey());
    await extendLog();
    expect(await breaks({ keys: trustedKeys(log.config, keys) })).toEqual([
      expect.objectContaining({ kind: 'checkpoint_key_unknown', detail: expect.stringContaining('Line 3') }),
    ]);
  });

  it('a file without a key, or with one of another kind, is refused', () => {
    expect(() => trustedKeys(log.config, file)).toThrow('holds no key');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' });
    writeFileSync(witness, rsa);
    expect(() => trustedKeys(log.config, witness)).toThrow('not Ed25519');
  });

  it('a file of an older release says so', async () => {
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version":2', '"version":1'));
    expect(await breaks()).toEqual([
      expect.objectContaining({ kind: 'checkpoint_altered', detail: expect.stringContaining('move the file away') }),
    ]);
  });
});

describe('deploy/audit-witness.sh', () => {
  const keep = (): { status: number | null; stdout: string; stderr: string } =>
    spawnSync('sh', ['deploy/audit-witness.sh', log.config.DATA_DIR, join(log.config.DATA_DIR, 'kept')], { encoding: 'utf8' });
  const kept = () => join(log.config.DATA_DIR, 'kept', 'audit-checkpoints.jsonl');

  it('keeps a copy that only grows, and the keys', async () => {
    expect(keep()).toMatchObject({ status: 0, stderr: '' });
    await extendLog();
    expect(keep()).toMatchObject({ status: 0, stdout: expect.stringContaining('1 new') });
    expect(readFileSync(kept(), 'utf8')).toBe(readFileSync(file, 'utf8'));
    const keys = trustedKeys(log.config, join(log.config.DATA_DIR, 'kept', 'audit-keys'));
    expect(await breaks({ witness: kept(), keys })).toEqual([]);
    expect(keep()).toMatchObject({ status: 0, stdout: expect.stringContaining('0 new') });
  });

  it.each([
    ['was cut', (text: string) => text.slice(0, text.indexOf('\n') + 1)],
    ['was changed', (text: string) => text.replace('"sequence":5', '"sequence":4')],
    ['is gone', () => ''],
  ])('refuses a file that %s, and leaves its copy as it is', async (_what, change) => {
    await extendLog();
    keep();
    const before = readFileSync(kept(), 'utf8');
    writeFileSync(file, change(before));
    expect(keep()).toMatchObject({ status: 1, stderr: expect.stringContaining('does not start with') });
    expect(readFileSync(kept(), 'utf8')).toBe(before);
  });

  it('never overwrites a key, and copies no line that is still being written', async () => {
    writeFileSync(file, `${readFileSync(file, 'utf8')}{"half`);
    expect(keep()).toMatchObject({ status: 0 });
    expect(readFileSync(kept(), 'utf8')).toMatch(/^[^\n]+\n$/);
    const [name = ''] = readdirSync(publicKeyDir(log.config));
    writeFileSync(join(publicKeyDir(log.config), name), 'another');
    expect(keep()).toMatchObject({ status: 1, stderr: expect.stringContaining(name) });
    expect(readFileSync(join(log.config.DATA_DIR, 'kept', 'audit-keys', name), 'utf8')).toContain('PUBLIC KEY');
    expect(existsSync(join(log.config.DATA_DIR, 'kept', 'audit-checkpoints.jsonl.new'))).toBe(false);
  });
});

import { spawnSync } from 'node:child_process';
import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { canonicalForm, HASHED_FIELDS, type StoredEntry } from '../../../../api/audit/chain.js';
import { checkpointFile, writeCheckpoint } from '../../../../api/audit/checkpoint.js';
import { EXPORT_FILTERS, type ExportHead, exportForm } from '../../../../api/audit/export-proof.js';
import { deriveKeyId, signingKey } from '../../../../api/audit/signing-keys.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Entry, writeEntry } from './entries.js';

interface Report {
  verdict: 'intact' | 'broken' | 'not_verified';
  detail?: string;
  audit_id?: string;
  sequence?: number;
  complete?: boolean;
}
type Export = ExportHead & { data: Entry[]; proof: { key_id: string; signature: string } };
interface Verifier {
  verifyExport: (given: unknown, keys: Map<string, KeyObject> | null, checkpoints?: string) => Report;
  hashEntry: (entry: Entry) => string;
  exportForm: (given: unknown) => Buffer;
  readKeys: (path: string) => Map<string, KeyObject>;
}

const PROGRAM = resolve('clients', 'verify-export.mjs');
const EXAMPLE = resolve('docs', 'audit-example');
const copy = <T>(value: T): T => structuredClone(value);

let app: TestApp;
let team: TestTeam;
let verifier: Verifier;
let dir: string;
beforeAll(async () => {
  app = await startApp();
  verifier = (await import(PROGRAM)) as unknown as Verifier;
  dir = mkdtempSync(join(tmpdir(), 'assent-verify-'));
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await app.close();
});
beforeEach(async () => {
  team = await buildTeam(app);
  for (let n = 0; n < 4; n += 1) await writeEntry(app, { team_id: team.team_id, details: { n, text: 'Küche 🍳 ü' } });
});

async function exported(filters: Record<string, string> = {}): Promise<Export> {
  const { status, body } = await app.as(team.admin).post('/api/audit/export', { format: 'json', ...filters });
  expect(status).toBe(200);
  return body as Export;
}
function keys(): Map<string, KeyObject> {
  const key = signingKey(app.services.config);
  return new Map([[deriveKeyId(key), createPublicKey(key)]]);
}
const verify = (given: unknown, checkpoints?: string): Report => verifier.verifyExport(given, keys(), checkpoints);

it('the whole export of a team verifies as a chain, by itself and with its signature', async () => {
  const given = await exported();
  expect(given.data.length).toBeGreaterThan(4);
  expect(verify(given)).toMatchObject({ verdict: 'intact', complete: true });
  expect(verifier.verifyExport(given, null)).toMatchObject({ verdict: 'intact', complete: true });
  expect(verifier.verifyExport(given, new Map())).toMatchObject({ verdict: 'not_verified' });
});

it('an export with filters verifies by its signature', async () => {
  const given = await exported({ feature: 'tasks', severity: 'LOW', team_id: team.team_id });
  expect(given.data).toHaveLength(4);
  expect(verify(given)).toMatchObject({ verdict: 'intact', complete: false });
});

it('each changed field of each entry is found, and the entry is named', async () => {
  const given = await exported();
  for (const [index, { audit_id, sequence }] of given.data.entries()) {
    for (const field of ['sequence', 'details', 'prev_hash', 'entry_hash', ...HASHED_FIELDS] as const) {
      const forged = copy(given);
      const entry = forged.data[index] as Entry;
      if (field === 'sequence') entry.sequence += 1;
      else if (field === 'details') entry['details'] = { n: 'forged' };
      else entry[field] = field.endsWith('hash') ? 'ab'.repeat(32) : 'forged';
      const named = field === 'sequence' ? sequence + 1 : sequence;
      const id = field === 'audit_id' ? 'forged' : audit_id;
      expect([field, verify(forged)]).toEqual([
        field,
        expect.objectContaining({ verdict: 'broken', sequence: named, audit_id: id }),
      ]);
    }
  }
});

it.each<[string, (given: Export) => void]>([
  ['an entry left out of the middle', ({ data }) => data.splice(2, 1)],
  ['an entry left out, and counted so', (given) => (given.data.splice(2, 1), (given.record_count -= 1))],
  ['the newest entry left out', (given) => (given.data.shift(), (given.record_count -= 1))],
  ['the oldest entry left out', (given) => (given.data.pop(), (given.record_count -= 1))],
  ['two entries exchanged', ({ data }) => data.splice(0, 2, data[1] as Entry, data[0] as Entry)],
  ['an entry twice', (given) => (given.data.push(given.data[0] as Entry), (given.record_count += 1))],
  ['another time', (given) => (given.exported_at = '2026-01-01T00:00:00.000Z')],
  ['a filter added', (given) => (given.filters['team_id'] = given.chain[0]?.team_id)],
  ['another head', ({ chain }) => ((chain[0] as { head_hash: string }).head_hash = 'cd'.repeat(32))],
  ['a longer chain', ({ chain }) => ((chain[0] as { last_sequence: number }).last_sequence += 1)],
  ['a chain without its team', ({ chain }) => chain.splice(0)],
  ['a chain twice', ({ chain }) => chain.push(chain[0] as (typeof chain)[0])],
  ['another signature', ({ proof }) => (proof.signature = Buffer.alloc(64).toString('base64'))],
  ['a member of the export added', (given) => Object.assign(given, { reviewed_by: 'Ada' })],
  ['a member of an entry added', ({ data }) => Object.assign(data[1] as Entry, { user_name: 'Mallory' })],
  ['a member of a chain added', ({ chain }) => Object.assign(chain[0] as object, { note: 'whole' })],
  ['a member of the proof added', ({ proof }) => Object.assign(proof, { issuer: 'Assent' })],
  ['a filter that does not exist', (given) => Object.assign(given.filters, { note: 'x' })],
  ['a chain that is none', ({ chain }) => chain.push(null as unknown as (typeof chain)[0])],
  ['half a surrogate pair', ({ data }) => ((data[0] as Entry)['user_agent'] = '\ud800')],
  ['no signature', ({ proof }) => (proof.signature = undefined as unknown as string)],
])('a forged export is broken: %s', async (_name, forge) => {
  const forged = copy(await exported());
  forge(forged);
  expect(verify(forged)).toMatchObject({ verdict: 'broken', detail: expect.any(String) });
});

it('an entry missing from an export without filters is named by its place', async () => {
  const given = await exported();
  const missing = given.data.splice(2, 1)[0] as Entry;
  given.record_count -= 1;
  expect(verifier.verifyExport(given, null)).toMatchObject({
    verdict: 'broken',
    detail: `Sequence ${missing.sequence} of team ${team.team_id} is missing`,
  });
});

it('a chain that was written anew or cut off contradicts the checkpoints', async () => {
  await writeCheckpoint(app.services);
  const given = await exported();
  const lines = readFileSync(checkpointFile(app.services.config), 'utf8');
  expect(verify(given, lines)).toMatchObject({ verdict: 'intact', checkpoints: lines.trimEnd().split('\n').length });
  // Everything hashed anew from the first entry: links and head fit, and whoever has no key sees nothing.
  const forged = copy(given);
  let previous = '0'.repeat(64);
  for (const entry of forged.data.toReversed()) {
    Object.assign(entry, { user_email: 'eve@demo.test', prev_hash: previous });
    previous = entry.entry_hash = verifier.hashEntry(entry);
  }
  (forged.chain[0] as { head_hash: string }).head_hash = previous;
  expect(verifier.verifyExport(forged, null)).toMatchObject({ verdict: 'intact' });
  expect(verify(forged)).toMatchObject({ verdict: 'broken', detail: expect.stringContaining('signed') });
  expect(verifier.verifyExport(forged, null, lines)).toMatchObject({
    verdict: 'broken',
    detail: expect.stringContaining('signed at'),
  });
  expect(verify(given, lines.replace('"sequence":', '"sequence":1'))).toMatchObject({ verdict: 'broken' });
  expect(verify(given, 'nonsense')).toMatchObject({ verdict: 'broken' });
});

it('agrees with the product on both forms, for every filter', async () => {
  const filters = Object.fromEntries(EXPORT_FILTERS.map((name) => [name, `${name} ü`]));
  const given = { ...(await exported()), filters };
  const [entry] = given.data as [Entry];
  const stored = { ...entry, details: entry.details_text } as unknown as StoredEntry;
  const form = canonicalForm(stored, entry.sequence, Buffer.from(entry.prev_hash, 'hex'));
  expect(verifier.hashEntry(entry)).toBe(entry.entry_hash);
  expect(hash('sha256', form)).toBe(entry.entry_hash);
  const hashes = given.data.map(({ entry_hash }) => Buffer.from(entry_hash, 'hex'));
  expect(verifier.exportForm(given)).toEqual(exportForm(given, hashes));
});

it('the example of the document is what the document says', () => {
  const given = JSON.parse(readFileSync(join(EXAMPLE, 'export.json'), 'utf8')) as Export;
  const lines = readFileSync(join(EXAMPLE, 'checkpoints.jsonl'), 'utf8');
  const trusted = verifier.readKeys(EXAMPLE);
  expect(verifier.verifyExport(given, trusted, lines)).toMatchObject({ verdict: 'intact', complete: true, checkpoints: 1 });
  const text = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
  for (const { entry_hash } of given.data) expect(text).toContain(entry_hash);
  expect(text).toContain(
    `The signed bytes of the export are ${verifier.exportForm(given).length}, of the key \`${given.proof.key_id}\``,
  );
});

const command = (args: string[]) => spawnSync(process.execPath, args, { encoding: 'utf8' });

it('is one file that runs anywhere, and tells intact, broken and not verified apart', () => {
  const program = join(dir, 'copied.mjs');
  cpSync(PROGRAM, program);
  const run = (...args: string[]) => command([program, ...args]);
  const file = join(EXAMPLE, 'export.json');
  expect(run(file, '--keys', EXAMPLE)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('export intact: 3 entries of 1 team'),
  });
  expect(run(file, '--without-keys')).toMatchObject({ status: 0, stdout: expect.stringContaining('not checked') });
  const forged = join(dir, 'forged.json');
  writeFileSync(forged, readFileSync(file, 'utf8').replaceAll('Küche', 'Keller'));
  expect(run(forged, '--keys', EXAMPLE)).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^EXPORT BROKEN: Entry 0197a000/),
  });
  for (const args of [[], [file], [file, '--keys', join(dir, 'none')], [PROGRAM, '--keys', EXAMPLE], [file, '--nonsense']]) {
    expect([args, run(...args).status]).toEqual([args, 2]);
  }
  expect(run(PROGRAM, '--keys', EXAMPLE).stdout).toContain('is no JSON. Only an export as JSON can be verified');
});

it('a file that readers would understand differently, or that writes to the terminal, is never told as intact', async () => {
  const given = await exported();
  const [first, second] = given.data as [Entry, Entry];
  const text = JSON.stringify(given);
  const run = (content: string) => {
    const file = join(dir, 'hostile.json');
    writeFileSync(file, content);
    return command([PROGRAM, file, '--without-keys']);
  };
  expect(run(text).status).toBe(0);
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  // The second one counts for JSON.parse, the first one for other readers.
  for (const [before, after] of [
    ['"data":[', '"data":[],"data":['],
    [`"audit_id":"${second.audit_id}"`, `"audit_id":"forged","audit_id":"${second.audit_id}"`],
    [`"audit_id":"${second.audit_id}"`, `"audit\\u005fid":"forged", "audit_id" :"${second.audit_id}"`],
    [`"details":${JSON.stringify(first['details'])}`, '"details":{"format":"csv","format":"json","filters":{}}'],
    [`"details":${JSON.stringify(first['details'])}`, `"details":${deep}`],
    ['"filters":{', '"filters":{"__proto__":"x"'],
  ] as [string, string][]) {
    expect(text).toContain(before);
    expect([after.slice(0, 99), run(text.replace(before, after))]).toEqual([
      after.slice(0, 99),
      expect.objectContaining({ status: 1, stdout: expect.stringMatching(/^EXPORT BROKEN/) }),
    ]);
  }
  const forged = copy(given);
  (forged.data[0] as Entry).audit_id = '\u001b[2J\nexport intact: 5 entries\u009b1A\u202e';
  const { status, stdout } = run(JSON.stringify(forged));
  expect([status, stdout]).toEqual([1, expect.stringMatching(/^EXPORT BROKEN: [^\p{C}]*\n$/u)]);
  // Deeper than this program reads: not intact.
  expect(run(`{"data":${deep}}`).status).toBe(2);
});

it('refuses numbers that programs read with different values, and takes every form of the others', async () => {
  const given = await exported();
  const first = given.data[0] as Entry;
  /** The export with an entry whose details were stored, hashed and shown as these texts. */
  const judge = (stored: string, shown: string) => {
    const made = { ...first, details_text: stored, details: '?' } as unknown as Entry;
    made.entry_hash = verifier.hashEntry(made);
    const chain = given.chain.map((each) => ({
      ...each,
      head_hash: each.last_sequence === made.sequence ? made.entry_hash : each.head_hash,
    }));
    const file = join(dir, 'numbers.json');
    writeFileSync(
      file,
      JSON.stringify({ ...given, chain, data: [made, ...given.data.slice(1)] }).replace('"details":"?"', `"details":${shown}`),
    );
    return command([PROGRAM, file, '--without-keys']);
  };
  for (const number of ['41', '-0.5', '1e21', '1.50', '0.30000000000000004', '5e-324', `1${'0'.repeat(308)}`, '0.0']) {
    expect([number, judge(`{"n": ${number}}`, `{"n":${JSON.stringify(Number(number))}}`).status]).toEqual([number, 0]);
  }
  for (const [stored, shown] of [
    ['{"n": 41}', '{"n":41.00000000000000000001}'],
    ['{"n": 41.00000000000000000001}', '{"n":41}'],
    ['{"n": null}', '{"n":1e999}'],
    ['{"n": 1e999}', '{"n":null}'],
    ['{"n": -1e999}', '{"n":1e999}'],
    ['{"n": 0}', '{"n":1e-999}'],
    ['{"n": 9007199254740993}', '{"n":9007199254740992}'],
    ['{"n": 9007199254740992}', '{"n":9007199254740993}'],
    [`{"n": 1.${'0'.repeat(400)}1}`, '{"n":1}'],
    ['{"n": 1, "n": 2}', '{"n":2}'],
  ] as const) {
    expect([stored.slice(0, 40), shown, judge(stored, shown)]).toEqual([
      stored.slice(0, 40),
      shown,
      expect.objectContaining({ status: 1, stdout: expect.stringMatching(/^EXPORT BROKEN/) }),
    ]);
  }
});

it('runs as npm run audit:verify with the keys of the settings, without a database', async () => {
  const file = join(dir, 'export.json');
  writeFileSync(file, JSON.stringify(await exported()));
  const script = ['dist/scripts/audit-verify.js', '--export', file];
  const { AUDIT_SIGNING_KEY, DATA_DIR } = app.services.config;
  const env = { ...process.env, NODE_ENV: 'test', DATABASE_URL: 'postgres://127.0.0.1:1/none', AUDIT_SIGNING_KEY, DATA_DIR };
  const run = (...args: string[]) => spawnSync(process.execPath, [...script, ...args], { env, encoding: 'utf8' });
  expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('Every entry of the chain is here') });
  expect(run('--keys', EXAMPLE)).toMatchObject({ status: 2, stdout: expect.stringContaining('you trust ce1b57c4ea26320f') });
});

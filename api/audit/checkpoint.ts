import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { run, type Statement } from '../../db/statement.js';
import type { Config } from '../core/config.js';
import type { Services } from '../core/context.js';
import { sealEntries } from './seal-entries.js';

const TYPE = 'assent.audit.checkpoint';

/** What is signed: where every chain stood, and what the line before it was. */
export interface Checkpoint {
  type: typeof TYPE;
  version: 1;
  /** ISO 8601, UTC. */
  time: string;
  /** SHA-256 of the line before, without its line feed; 64 zeros in the first line. Hexadecimal, like every hash here. */
  previous: string;
  /** Which key signed: the first 16 digits of the SHA-256 of its public half (SPKI, DER). */
  key: string;
  heads: { chain: string; sequence: number; entry_hash: string }[];
}

/** `previous` of the first line. */
export const NO_LINE = '0'.repeat(64);
const LINE_FEED = 0x0a;
/** Read backwards by this many bytes when the last line is looked for. */
const BLOCK = 65_536;

const lock: Statement = {
  name: 'checkpoint_lock',
  text: `select pg_advisory_xact_lock(hashtextextended('audit_checkpoints', 0))`,
};
const readHeads: Statement = {
  name: 'checkpoint_read_heads',
  text: `select chain, sequence, encode(entry_hash, 'hex') as entry_hash from audit_heads order by chain`,
};

export const checkpointFile = (config: Pick<Config, 'DATA_DIR'>): string => join(config.DATA_DIR, 'audit-checkpoints.jsonl');

/** `previous` of the line that follows `line`. */
export const hashLine = (line: Buffer): string => createHash('sha256').update(line).digest('hex');

function signingKey(config: Pick<Config, 'AUDIT_SIGNING_KEY'>): KeyObject {
  const key = createPrivateKey(config.AUDIT_SIGNING_KEY);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('AUDIT_SIGNING_KEY must be an Ed25519 key');
  return key;
}

const keyId = (key: KeyObject): string =>
  createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

/**
 * A line: the checkpoint's JSON with `signature` (Ed25519, base64) as its last member. Signed are the bytes of the JSON without
 * that member, as they stand in the line.
 */
function signLine(checkpoint: Checkpoint, key: KeyObject): Buffer {
  const body = JSON.stringify(checkpoint);
  return Buffer.from(`${body.slice(0, -1)},"signature":"${sign(null, Buffer.from(body), key).toString('base64')}"}`);
}

/** Reads a line back; undefined when it is not signed with this key or is no such line. */
export function readLine(config: Pick<Config, 'AUDIT_SIGNING_KEY'>, line: Buffer): Checkpoint | undefined {
  const parts = /^(\{.*),"signature":"([\w+/=]+)"\}$/.exec(line.toString('utf8'));
  if (!parts) return undefined;
  const body = Buffer.from(`${parts[1]}}`);
  const signed = verify(null, body, createPublicKey(signingKey(config)), Buffer.from(parts[2] as string, 'base64'));
  return signed ? (JSON.parse(body.toString('utf8')) as Checkpoint) : undefined;
}

/**
 * The last whole line, and where the whole lines end. What follows them was cut off by a crash or a full disk while it was
 * written: nobody was told that it exists.
 */
async function readLast(file: FileHandle): Promise<{ last?: Buffer; end: number; size: number }> {
  const { size } = await file.stat();
  let tail = Buffer.alloc(0);
  for (let start = size; start > 0; ) {
    const length = Math.min(BLOCK, start);
    start -= length;
    const block = await file.read(Buffer.alloc(length), 0, length, start);
    tail = Buffer.concat([block.buffer, tail]);
    const end = tail.lastIndexOf(LINE_FEED);
    if (end < 0) continue;
    const before = tail.subarray(0, end).lastIndexOf(LINE_FEED);
    if (before >= 0 || start === 0) return { last: tail.subarray(before + 1, end), end: start + end + 1, size };
  }
  return { end: 0, size };
}

/**
 * Signs where every chain stands and appends it to the file of checkpoints, then to the log: outside the database, so that a cut
 * tail or a rewritten chain is found (verify-checkpoints.ts). Processes that share the file take turns by a lock in the database.
 * @throws Error when the key is no Ed25519 key or the file cannot be written
 * Source: decisions G6.
 */
export async function writeCheckpoint({ db, config, log }: Pick<Services, 'db' | 'config' | 'log'>): Promise<Checkpoint> {
  const key = signingKey(config);
  await sealEntries(db);
  await mkdir(config.DATA_DIR, { recursive: true });
  return db.transaction(async (trx) => {
    await run(trx, lock, []);
    const heads = await run<Checkpoint['heads'][number]>(trx, readHeads, []);
    const file = await open(checkpointFile(config), 'a+', 0o600);
    try {
      const { last, end, size } = await readLast(file);
      const previous = last ? hashLine(last) : NO_LINE;
      const checkpoint: Checkpoint = { type: TYPE, version: 1, time: new Date().toISOString(), previous, key: keyId(key), heads };
      const line = signLine(checkpoint, key);
      if (end < size) await file.truncate(end);
      await file.appendFile(Buffer.concat([line, Buffer.of(LINE_FEED)]));
      await file.sync();
      log.info({ checkpoint: line.toString() }, 'Audit checkpoint');
      return checkpoint;
    } finally {
      await file.close();
    }
  });
}

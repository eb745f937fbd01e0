import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { defineStatement, run } from '../../db/statement.js';
import type { Config } from '../platform/config.js';
import type { Services } from '../platform/context.js';
import type { BreakKind } from './break.js';
import { sealEntries } from './seal-entries.js';
import { deriveKeyId, type PublicKeys, publishKey, signingKey } from './signing-keys.js';

const TYPE = 'assent.audit.checkpoint';
/** Version 1 identified its key differently. */
const VERSION = 2;

/** Signed content: the head of every chain, and the hash of the previous line. */
export interface Checkpoint {
  type: typeof TYPE;
  version: typeof VERSION;
  /** ISO 8601, UTC. */
  time: string;
  /** SHA-256 of the previous line without its line feed; 64 zeros in the first line. Hexadecimal, like every hash here. */
  previous: string;
  /** The signing key (`deriveKeyId`), so that lines stay valid after a key change. */
  key_id: string;
  heads: { chain: string; sequence: number; entry_hash: string }[];
}

/** `previous` of the first line. */
export const NO_LINE = '0'.repeat(64);
const LINE_FEED = 0x0a;
/** Block size for reading backwards to the last line, bytes. */
const BLOCK = 65_536;

const lock = defineStatement({
  name: 'checkpoint_lock',
  text: `select pg_advisory_xact_lock(hashtextextended('audit_checkpoints', 0))`,
});
const readHeads = defineStatement({
  name: 'checkpoint_read_heads',
  text: `select chain, sequence, encode(entry_hash, 'hex') as entry_hash from audit_heads order by chain`,
});

export const checkpointFile = (config: Pick<Config, 'DATA_DIR'>): string => join(config.DATA_DIR, 'audit-checkpoints.jsonl');

/** Returns the `previous` of the line after `line`. */
export const hashLine = (line: Buffer): string => createHash('sha256').update(line).digest('hex');

/**
 * Signs a line: the checkpoint's JSON with `signature` (Ed25519, base64) as its last member. The signature covers the bytes of the JSON
 * without that member.
 */
function signLine(checkpoint: Checkpoint, key: KeyObject): Buffer {
  const body = JSON.stringify(checkpoint);
  return Buffer.from(`${body.slice(0, -1)},"signature":"${sign(null, Buffer.from(body), key).toString('base64')}"}`);
}

/** An invalid line, and why. */
interface BadLine {
  kind: BreakKind;
  /** Completes "Line 3 …". */
  detail: string;
}

/** Parses a line and checks its signature with the key that it names. */
export function readLine(keys: PublicKeys, line: Buffer): Checkpoint | BadLine {
  const altered = (detail: string): BadLine => ({ kind: 'checkpoint_altered', detail });
  const parts = /^(\{.*),"signature":"([\w+/=]+)"\}$/.exec(line.toString('utf8'));
  if (!parts) return altered('is not a checkpoint');
  const body = Buffer.from(`${parts[1]}}`);
  let checkpoint: Checkpoint;
  try {
    checkpoint = JSON.parse(body.toString('utf8')) as Checkpoint;
  } catch {
    return altered('is not a checkpoint');
  }
  if (checkpoint.type !== TYPE || checkpoint.version !== VERSION)
    return altered(`has another format than version ${VERSION}: move the file away, the service starts a new one`);
  const key = keys.get(checkpoint.key_id);
  const known = [...keys.keys()].join(', ');
  if (!key)
    return { kind: 'checkpoint_key_unknown', detail: `is signed with the key ${checkpoint.key_id}, trusted are ${known}` };
  return verify(null, body, key, Buffer.from(parts[2] as string, 'base64'))
    ? checkpoint
    : altered(`is not what the key ${checkpoint.key_id} signed`);
}

/**
 * Returns the last complete line and its end. Anything behind it was cut off by a crash or a full disk and was never reported as written.
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
 * Signs the heads of all chains and appends the line to the checkpoint file and the log: outside the database, so that a truncated or
 * rewritten chain is detected (verify-checkpoints.ts). A lock in the database serializes processes that share the file.
 * @throws Error if the key is no Ed25519 key or the file cannot be written
 */
export async function writeCheckpoint({ db, config, log }: Pick<Services, 'db' | 'config' | 'log'>): Promise<Checkpoint> {
  const key = signingKey(config);
  await sealEntries(db);
  await mkdir(config.DATA_DIR, { recursive: true });
  await publishKey(config, key);
  return db.transaction(async (trx) => {
    await run(trx, lock, []);
    const heads = await run<Checkpoint['heads'][number]>(trx, readHeads, []);
    const file = await open(checkpointFile(config), 'a+', 0o600);
    try {
      const { last, end, size } = await readLast(file);
      const previous = last ? hashLine(last) : NO_LINE;
      const time = new Date().toISOString();
      const checkpoint: Checkpoint = { type: TYPE, version: VERSION, time, previous, key_id: deriveKeyId(key), heads };
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

import { run, type Statement } from '../../../db/statement.js';
import type { RunnerIdentity } from '../../core/actor.js';
import { createRowLoader } from '../../core/batching/batch-loader.js';
import type { Services } from '../../core/context.js';
import { unauthenticated } from '../../core/errors.js';
import { hashOfToken, RUNNER_PREFIX } from './tokens.js';

/** $1 = SHA-256 hashes of tokens. Returns their runners, whether or not they have been seen lately. */
const findStatement: Statement = {
  name: 'authenticate_runner',
  text: /* sql */ `
    select r.runner_id, r.team_id, r.name, r.labels, r.token_hash,
      r.last_seen_at is null or r.last_seen_at < now() - interval '20 seconds' as stale
    from runners r where r.token_hash = any((select $1::bytea[])::bytea[])`,
};

/** $1 = runner id. Written at most every 20 seconds. */
const touchStatement: Statement = {
  name: 'touch_runner',
  text: /* sql */ `
    update runners set last_seen_at = now()
    where runner_id = $1 and (last_seen_at is null or last_seen_at < now() - interval '20 seconds')`,
};

interface Found extends RunnerIdentity, Record<string, unknown> {
  token_hash: Buffer;
  stale: boolean;
}

// Concurrent requests share a look-up; each still sees rows no older than its own arrival.
const runnerOf = createRowLoader(async (db, hashes: Buffer[]): Promise<(Found | undefined)[]> => {
  const rows = await run<Found>(db, findStatement, [hashes]);
  return hashes.map((hash) => rows.find((row) => row.token_hash.equals(hash)));
});

const TOKEN = new RegExp(`^Bearer +(${RUNNER_PREFIX}[A-Za-z0-9_-]{43}) *$`, 'i');

/** Returns the token of a runner in an Authorization header; undefined if it holds another credential. */
export const runnerTokenIn = (authorization: string | undefined): string | undefined => TOKEN.exec(authorization ?? '')?.[1];

/** Returns the runner of a token. @throws AUTHENTICATION_REQUIRED */
export async function authenticateRunner(services: Services, token: string): Promise<RunnerIdentity> {
  const found = await runnerOf(services.db, hashOfToken(token));
  if (!found) throw unauthenticated();
  const { runner_id, team_id, name, labels, stale } = found;
  // Asynchronously: no request waits for it, and a failure only delays it.
  if (stale) void run(services.db, touchStatement, [runner_id]).catch(() => undefined);
  return { runner_id, team_id, name, labels };
}

import { defineStatement, run } from '../../../../db/statement.js';
import type { RunnerIdentity } from '../../../platform/access/actor.js';
import { createRowLoader } from '../../../platform/database/batching/batch-loader.js';
import type { Services } from '../../../platform/context.js';
import { unauthenticated } from '../../../platform/errors.js';
import { hashOfToken, RUNNER_PREFIX } from './tokens.js';

/** $1 = SHA-256 hashes of tokens. Returns their runners, whether or not they have been seen lately. */
const findStatement = defineStatement({
  name: 'authenticate_runner',
  text: /* sql */ `
    select r.runner_id, r.team_id, r.name, r.labels, r.token_hash,
      r.last_seen_at is null or r.last_seen_at < now() - interval '30 seconds' as stale
    from runners r where r.token_hash = any((select $1::bytea[])::bytea[])`,
});

/** $1 = runner ids. Written at most every 30 seconds, so at every other claim of a runner that waits. */
const touchStatement = defineStatement({
  name: 'touch_runners',
  text: /* sql */ `
    update runners set last_seen_at = now()
    where runner_id = any(array(
      select runner_id from runners
      where runner_id = any((select $1::uuid[])::uuid[]) and (last_seen_at is null or last_seen_at < now() - interval '30 seconds')
      order by runner_id for no key update skip locked))`,
});

interface RunnerRow extends RunnerIdentity, Record<string, unknown> {
  token_hash: Buffer;
  stale: boolean;
}

// Concurrent requests share a look-up; each still sees rows no older than its own arrival.
const findRunner = createRowLoader(async (db, hashes: Buffer[]): Promise<(RunnerRow | undefined)[]> => {
  const rows = await run<RunnerRow>(db, findStatement, [hashes]);
  return hashes.map((hash) => rows.find((row) => row.token_hash.equals(hash)));
});

const touch = createRowLoader(async (db, ids: string[]): Promise<void[]> => {
  await run(db, touchStatement, [ids]);
  return ids.map(() => undefined);
});

const TOKEN = new RegExp(`^Bearer +(${RUNNER_PREFIX}[A-Za-z0-9_-]{43}) *$`, 'i');

/** Returns the token of a runner in an Authorization header; undefined if it holds another credential. */
export const runnerTokenIn = (authorization: string | undefined): string | undefined => TOKEN.exec(authorization ?? '')?.[1];

/** Returns the runner of a token. @throws AUTHENTICATION_REQUIRED */
export async function authenticateRunner(services: Services, token: string): Promise<RunnerIdentity> {
  const found = await findRunner(services.db, hashOfToken(token));
  if (!found) throw unauthenticated();
  const { runner_id, team_id, name, labels, stale } = found;
  // Asynchronously: no request waits for it, and a failure only delays it.
  if (stale) void touch(services.db, runner_id).catch(() => undefined);
  return { runner_id, team_id, name, labels };
}

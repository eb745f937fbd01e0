import type { Knex } from 'knex';
import { run, type Statement } from '../../db/statement.js';

/** One use of an Idempotency-Key: whose, for what, and the request that brings it (J2). */
export interface IdempotentRequest {
  userId: string;
  key: string;
  /** SHA-256 of method and path. */
  address: Buffer;
  /** SHA-256 of query and body: the same key with another one is a mistake of the client. */
  fingerprint: Buffer;
  requestId: string;
}

/** What stands under a key that is taken. */
export interface StoredKey extends Record<string, unknown> {
  fingerprint: Buffer;
  /** Null while the first request is under way. */
  status: number | null;
  body: string | null;
  /** The first request's process died after its work was committed: nobody knows the answer any more. */
  lost: boolean;
  request_id: string;
}

const LIFE_HOURS = 24;
/** A claim that its process no longer renews is free again after this, s. */
export const LEASE_SECONDS = 30;
const BATCH = 500;

const LEASE = `now() + make_interval(secs => ${LEASE_SECONDS})`;
const THIS_KEY = 'user_id = $1 and key = $2 and address = $3';
const keyOf = ({ userId, key, address }: IdempotentRequest): unknown[] => [userId, key, address];

/** A request's first audit entry has the request's id, so it tells whether the work was committed (J1). */
const committed = (row: string): string => `exists (select from audit_entries a where a.audit_id = ${row}.request_id)`;

/**
 * $1 user, $2 key, $3 address, $4 fingerprint, $5 request. A row comes back to the one who has the key now: it was free, its day
 * was over, or whoever held it died before committing anything.
 */
const claimStatement: Statement = {
  name: 'claim_key',
  text: /* sql */ `
    insert into idempotency_keys as k (user_id, key, address, fingerprint, request_id, lease_until)
    values ($1, $2, $3, $4, $5, ${LEASE})
    on conflict (user_id, key, address) do update set fingerprint = excluded.fingerprint, request_id = excluded.request_id,
      claimed_at = now(), lease_until = excluded.lease_until, status = null, body = null
    where k.claimed_at < now() - interval '${LIFE_HOURS} hours'
      or (k.status is null and k.lease_until < now() and not ${committed('k')})
    returning 1`,
};

const readStatement: Statement = {
  name: 'read_key',
  text: /* sql */ `
    select k.fingerprint, k.status, k.body, k.request_id, k.status is null and k.lease_until < now() and ${committed('k')} as lost
    from idempotency_keys k where ${THIS_KEY}`,
};

const renewStatement: Statement = {
  name: 'renew_key',
  text: `update idempotency_keys set lease_until = ${LEASE} where ${THIS_KEY} and request_id = $4 and status is null`,
};

const finishStatement: Statement = {
  name: 'finish_key',
  text: `update idempotency_keys set status = $5, body = $6 where ${THIS_KEY} and request_id = $4 and status is null`,
};

/** What was committed before it went wrong must not be done again: that key stays taken. */
const releaseStatement: Statement = {
  name: 'release_key',
  text: `delete from idempotency_keys k where ${THIS_KEY} and request_id = $4 and status is null and not ${committed('k')}`,
};

/** Takes the key, in a commit of its own. False: somebody has it. */
export async function claimKey(db: Knex, use: IdempotentRequest): Promise<boolean> {
  return (await run(db, claimStatement, [...keyOf(use), use.fingerprint, use.requestId])).length === 1;
}

/** What stands under the key; undefined when it has become free. */
export async function readKey(db: Knex, use: IdempotentRequest): Promise<StoredKey | undefined> {
  return (await run<StoredKey>(db, readStatement, keyOf(use)))[0];
}

/** The request still works: its claim holds for another lease. */
export async function renewKey(db: Knex, use: IdempotentRequest): Promise<void> {
  await run(db, renewStatement, [...keyOf(use), use.requestId]);
}

/** Keeps the answer. */
export async function finishKey(db: Knex, use: IdempotentRequest, status: number, body: string | null): Promise<void> {
  await run(db, finishStatement, [...keyOf(use), use.requestId, status, body]);
}

/** Gives the key back after an answer that is not kept. */
export async function releaseKey(db: Knex, use: IdempotentRequest): Promise<void> {
  await run(db, releaseStatement, [...keyOf(use), use.requestId]);
}

/** Deletes the keys whose day is over, in batches, each a commit of its own. May be run at any time. Returns how many. */
export async function deleteExpiredKeys(db: Knex): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await db.raw<{ rowCount: number }>(/* sql */ `
      delete from idempotency_keys where (user_id, key, address) in (
        select user_id, key, address from idempotency_keys where claimed_at < now() - interval '${LIFE_HOURS} hours'
        order by claimed_at limit ${BATCH} for update skip locked)`);
    total += rowCount;
    if (rowCount < BATCH) return total;
  }
}

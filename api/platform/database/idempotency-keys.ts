import type { Knex } from 'knex';
import { inBatches } from '../../../db/in-batches.js';
import { defineStatement, run } from '../../../db/statement.js';

/** One use of an Idempotency-Key: user, target and request. */
export interface IdempotentRequest {
  userId: string;
  key: string;
  /** SHA-256 of method and path. */
  address: Buffer;
  /** SHA-256 of query and body; a key reused with another one is a client error. */
  fingerprint: Buffer;
  requestId: string;
}

/** Stored state of a claimed key. */
export interface StoredKey extends Record<string, unknown> {
  fingerprint: Buffer;
  /** Null while the first request is in progress. */
  status: number | null;
  body: string | null;
  /** The first request committed, but its process died before storing the response. */
  lost: boolean;
  request_id: string;
}

const LIFE_HOURS = 24;
/** A claim that its process does not renew becomes free after this, s. */
export const LEASE_SECONDS = 30;
const BATCH = 500;

const LEASE = `now() + make_interval(secs => ${LEASE_SECONDS})`;
const THIS_KEY = 'user_id = $1 and key = $2 and address = $3';
const getKey = ({ userId, key, address }: IdempotentRequest): unknown[] => [userId, key, address];

/** The first audit entry of a request has the request's id, so it shows whether the work was committed. */
const committed = (row: string): string => `exists (select from audit_entries a where a.audit_id = ${row}.request_id)`;

/**
 * $1 = user id, $2 = key, $3 = address, $4 = fingerprint, $5 = request id. Returns a row to the new owner: the key was free,
 * expired, or its owner died before committing anything.
 */
const claimStatement = defineStatement({
  name: 'claim_key',
  text: /* sql */ `
    insert into idempotency_keys as k (user_id, key, address, fingerprint, request_id, lease_until)
    values ($1, $2, $3, $4, $5, ${LEASE})
    on conflict (user_id, key, address) do update set fingerprint = excluded.fingerprint, request_id = excluded.request_id,
      claimed_at = now(), lease_until = excluded.lease_until, status = null, body = null
    where k.claimed_at < now() - interval '${LIFE_HOURS} hours'
      or (k.status is null and k.lease_until < now() and not ${committed('k')})
    returning 1`,
});

const readStatement = defineStatement({
  name: 'read_key',
  text: /* sql */ `
    select k.fingerprint, k.status, k.body, k.request_id, k.status is null and k.lease_until < now() and ${committed('k')} as lost
    from idempotency_keys k where ${THIS_KEY}`,
});

const renewStatement = defineStatement({
  name: 'renew_key',
  text: `update idempotency_keys set lease_until = ${LEASE} where ${THIS_KEY} and request_id = $4 and status is null`,
});

const finishStatement = defineStatement({
  name: 'finish_key',
  text: `update idempotency_keys set status = $5, body = $6 where ${THIS_KEY} and request_id = $4 and status is null`,
});

/** Committed work must not be repeated, so its key is kept. */
const releaseStatement = defineStatement({
  name: 'release_key',
  text: `delete from idempotency_keys k where ${THIS_KEY} and request_id = $4 and status is null and not ${committed('k')}`,
});

const deleteStatement = defineStatement({
  name: 'delete_expired_keys',
  text: /* sql */ `
    with old as materialized (
      select user_id, key, address from idempotency_keys where claimed_at < now() - interval '${LIFE_HOURS} hours'
      order by claimed_at limit ${BATCH} for update skip locked
    )
    delete from idempotency_keys where (user_id, key, address) in (select user_id, key, address from old) returning 1`,
});

/** Claims the key in its own commit. Returns false when it is already claimed. */
export async function claimKey(db: Knex, use: IdempotentRequest): Promise<boolean> {
  return (await run(db, claimStatement, [...getKey(use), use.fingerprint, use.requestId])).length === 1;
}

/** Returns the stored state of the key; undefined if it is free. */
export async function readKey(db: Knex, use: IdempotentRequest): Promise<StoredKey | undefined> {
  return (await run<StoredKey>(db, readStatement, getKey(use)))[0];
}

/** Extends the claim of a request in progress by another lease. */
export async function renewKey(db: Knex, use: IdempotentRequest): Promise<void> {
  await run(db, renewStatement, [...getKey(use), use.requestId]);
}

/** Stores the response. */
export async function finishKey(db: Knex, use: IdempotentRequest, status: number, body: string | null): Promise<void> {
  await run(db, finishStatement, [...getKey(use), use.requestId, status, body]);
}

/** Releases the key when the response is not stored. */
export async function releaseKey(db: Knex, use: IdempotentRequest): Promise<void> {
  await run(db, releaseStatement, [...getKey(use), use.requestId]);
}

/** Deletes expired keys in batches, each with its own commit. Safe to repeat. Returns their number. */
export const deleteExpiredKeys = (db: Knex): Promise<number> =>
  inBatches(BATCH, async () => (await run(db, deleteStatement, [])).length);

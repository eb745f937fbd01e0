import { randomInt, timingSafeEqual } from 'node:crypto';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { keyedHash } from '../../../platform/crypto/encryption.js';
import { newId } from '../../../platform/ids.js';

/** Purpose of an emailed code. All three share one mechanism (docs/decisions/identity.md#one-time-codes). */
export type Purpose = 'sign_up' | 'login' | 'password_reset';

/** Codes per address and hour, to protect the mailbox. The limit for sign-in is higher because it requires the password first. */
const MAX_CODES_PER_HOUR: Record<Purpose, number> = { sign_up: 10, password_reset: 10, login: 60 };

/**
 * $1 = purpose, $2 = address, $3 = code id, $4 = hash, $5 = minutes, $6 = hourly limit. No row: limit reached, and the last code
 * stays valid.
 */
const issueStatement = defineStatement({
  name: 'issue_code',
  text: /* sql */ `
    insert into one_time_codes as c (purpose, address, code_id, code_hash, expires_at)
    values ($1, $2, $3, $4, now() + make_interval(mins => $5::int))
    on conflict (purpose, address) do update set code_id = excluded.code_id, code_hash = excluded.code_hash, attempts = 0,
      expires_at = excluded.expires_at,
      issued_count = case when c.window_started_at > now() - interval '1 hour' then c.issued_count + 1 else 1 end,
      window_started_at = case when c.window_started_at > now() - interval '1 hour' then c.window_started_at else now() end
    where c.window_started_at <= now() - interval '1 hour' or c.issued_count < $6
    returning 1`,
});

/** $1 = purpose, $2 = address, $3 = maximum attempts. A row permits one comparison; the count is committed before it. */
const tryStatement = defineStatement({
  name: 'try_code',
  text: /* sql */ `
    update one_time_codes set attempts = attempts + 1
    where purpose = $1 and address = $2 and attempts < $3 and expires_at > now() and code_hash is not null
    returning code_id, code_hash`,
});

/** $1 = code id. */
const useStatement = defineStatement({
  name: 'use_code',
  text: 'update one_time_codes set code_hash = null where code_id = $1 and code_hash is not null returning 1',
});

/** Creates a code, which voids the previous one. Returns null when the hourly limit is reached. */
export async function issueCode(ctx: Context, purpose: Purpose, address: string): Promise<string | null> {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const codeId = newId();
  const hash = keyedHash(ctx.config, 'one-time-code', codeId, code);
  const rows = await run(ctx.db, issueStatement, [
    purpose,
    address,
    codeId,
    hash,
    ctx.config.CODE_MINUTES,
    MAX_CODES_PER_HOUR[purpose],
  ]);
  return rows.length === 1 ? code : null;
}

/**
 * Reserves an attempt in its own commit, then compares. Returns null for a wrong, expired, used or exhausted code; the caller
 * cannot tell which. `useCode` consumes the returned id in the transaction that the code authorizes.
 */
export async function checkCode(ctx: Context, purpose: Purpose, address: string, code: string): Promise<string | null> {
  if (ctx.db.isTransaction) throw new Error('An attempt must be committed on its own');
  const [row] = await run<{ code_id: string; code_hash: Buffer }>(ctx.db, tryStatement, [
    purpose,
    address,
    ctx.config.CODE_MAX_ATTEMPTS,
  ]);
  if (!row) return null;
  const given = keyedHash(ctx.config, 'one-time-code', row.code_id, code.replaceAll(/\s/g, ''));
  return timingSafeEqual(given, row.code_hash) ? row.code_id : null;
}

/** Consumes a code. Returns false when another request consumed it first or a new code voided it. */
export async function useCode(ctx: Context, codeId: string): Promise<boolean> {
  return (await run(ctx.db, useStatement, [codeId])).length === 1;
}

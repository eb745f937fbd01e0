import { randomBytes } from 'node:crypto';
import { TrustedDevice, User } from '../../../db/models/identity/user.js';
import { defineStatement, run } from '../../../db/statement.js';
import { type Config, webAddress } from '../../platform/config.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { queueMail } from '../../platform/mail/queue-mail.js';
import { computeHash } from './authenticate.js';
import type { Account } from './find-account.js';

/** A sign-in attempt, counted before verification (docs/adr/0007-count-login-attempts-first.md). */
export interface LoginAttempt {
  subject: string;
  /** False: the limit is reached, and this attempt is not verified. */
  allowed: boolean;
  /** The last attempt before the lock: its failure locks the account. */
  last: boolean;
}

/** The window of failures is open: not locked, and the first attempt is recent. */
const OPEN = `g.locked_until is null and g.first_attempt_at > now() - make_interval(mins => $3::int)`;
const LOCKED = 'g.locked_until > now()';

/**
 * $1 = subject, $2 = maximum attempts, $3 = minutes of the window and of the lock. Always writes the row, so that locked and open,
 * known and unknown take equal time. One statement, so exactly $2 of many concurrent attempts pass.
 */
const reserveAttemptStatement = defineStatement({
  name: 'reserve_attempt',
  text: /* sql */ `
    insert into login_attempts as g (subject, attempts) values ($1, 1)
    on conflict (subject) do update set
      attempts = case when ${LOCKED} then g.attempts when ${OPEN} then g.attempts + 1 else 1 end,
      first_attempt_at = case when ${LOCKED} or ${OPEN} then g.first_attempt_at else now() end,
      locked_until = case when ${LOCKED} then g.locked_until
        when ${OPEN} and g.attempts + 1 >= $2::int then now() + make_interval(mins => $3::int) end
    returning not coalesce(old.locked_until > now(), false) as allowed, new.attempts >= $2::int as last`,
});

/** $1 = subject, $2 = whether the attempt had locked. */
const releaseAttemptStatement = defineStatement({
  name: 'release_attempt',
  text: /* sql */ `
    update login_attempts set attempts = greatest(attempts - 1, 0), locked_until = case when $2::boolean then null else locked_until end
    where subject = $1`,
});

/** $1 = subjects. */
const deleteStatement = defineStatement({
  name: 'delete_login_attempts',
  text: 'delete from login_attempts where subject = any($1::text[]) returning locked_until > now() as locked',
});

/** $1 = subject, $2 = hash of the token that unlocks it. */
const storeTokenStatement = defineStatement({
  name: 'store_unlock_token',
  text: 'update login_attempts set unlock_hash = $2 where subject = $1',
});

/**
 * Returns the counter's key. A trusted device has its own counter, so nobody else can lock its owner out there
 * (docs/decisions/identity.md#login-lockout).
 */
export const getSubject = (address: string, deviceId: string | null): string =>
  deviceId ? `device ${deviceId}` : `mail ${address}`;

/** Counts an attempt in its own commit, so nothing rolls it back. */
export async function reserveAttempt({ db, config }: Pick<Context, 'db' | 'config'>, subject: string): Promise<LoginAttempt> {
  const values = [subject, config.LOCKOUT_FAILURES, config.LOCKOUT_MINUTES];
  const [row] = await run<{ allowed: boolean; last: boolean }>(db, reserveAttemptStatement, values);
  return { subject, allowed: row?.allowed === true, last: row?.last === true };
}

/** Releases an attempt that neither failed nor completed: a challenge is pending. */
export async function releaseAttempt({ db }: Pick<Context, 'db'>, { subject, last }: LoginAttempt): Promise<void> {
  await run(db, releaseAttemptStatement, [subject, last]);
}

/** Resets the counter after a success. */
export async function clearAttempts({ db }: Pick<Context, 'db'>, { subject }: LoginAttempt): Promise<void> {
  await run(db, deleteStatement, [[subject]]);
}

/** Returns the account behind a counter; null for an unknown address. */
export async function findOwner({ db }: Pick<Context, 'db'>, subject: string): Promise<string | null> {
  const [kind, name = ''] = subject.split(' ', 2);
  const row = await (kind === 'device'
    ? TrustedDevice.query(db).findById(name).select('user_id')
    : User.query(db).findOne({ email: name }).select('user_id'));
  return row?.user_id ?? null;
}

/** Unlocks an account and its devices. @returns whether anything was locked */
export async function clearLocks({ db }: Pick<Context, 'db'>, account: { user_id: string; email: string }): Promise<boolean> {
  const devices = await TrustedDevice.query(db).where({ user_id: account.user_id }).select('device_id');
  const subjects = [null, ...devices.map(({ device_id }) => device_id)].map((id) => getSubject(account.email, id));
  const deleted = await run<{ locked: boolean | null }>(db, deleteStatement, [subjects]);
  return deleted.some(({ locked }) => locked === true);
}

async function mailLock(ctx: Context, account: Account, { subject }: LoginAttempt): Promise<void> {
  const token = randomBytes(32).toString('base64url');
  await run(ctx.db, storeTokenStatement, [subject, computeHash(token)]);
  const { LOCKOUT_MINUTES: minutes } = ctx.config;
  await queueMail(ctx, {
    to: account.email,
    template: 'account-locked',
    data: { name: account.name, url: unlockAddress(ctx.config, token), minutes, ip: ctx.ip ?? 'an unknown address' },
    usefulMinutes: minutes,
  });
}

/** Page that takes the token of a lock email and calls `unlock`. */
const unlockAddress = (config: Config, token: string): string => webAddress(config, `/app/unlock?token=${token}`);

/**
 * Records a failed attempt in its own commit. The one that locks an account also emails its owner. `account` is undefined for an
 * unknown address.
 */
export function recordFailure(ctx: Context, account: Account | undefined, attempt: LoginAttempt): Promise<string> {
  return inTransaction(ctx, async (ctx) => {
    const locks = attempt.allowed && attempt.last && account !== undefined;
    if (locks && account.usable) await mailLock(ctx, account, attempt);
    return recordChange(ctx, {
      team_id: null,
      feature: 'auth',
      action: locks ? 'lockout' : 'login_failed',
      severity: !locks ? 'LOW' : account.role === 'admin' ? 'CRITICAL' : 'HIGH',
      outcome: 'denied',
      entity_type: 'user',
      entity_id: account?.user_id ?? null,
    });
  });
}

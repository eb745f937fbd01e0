import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { RecoveryCode } from '../../../../db/models/identity/user.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { keyedHashes, encryptField, decryptField } from '../../../platform/crypto/encryption.js';

const PERIOD_SECONDS = 30;
const RECOVERY_CODES = 10;
/** Omits letters and digits that are easily confused. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const RECOVERY_LENGTH = 10;

/** RFC 6238 with the parameters that every authenticator app supports: SHA-1, six digits, 30 seconds. */
const createTotp = (secret: string, label = ''): TOTP =>
  new TOTP({
    issuer: 'Assent',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });

/** Creates a 160-bit secret in base32, and the URL for the QR code of an authenticator app. */
export function newSecret(email: string): { secret: string; otpauth_url: string } {
  const secret = new Secret({ size: 20 }).base32;
  return { secret, otpauth_url: createTotp(secret, email).toString() };
}

export const sealSecret = ({ config }: Pick<Context, 'config'>, userId: string, secret: string): Buffer =>
  encryptField(config, 'two-factor', userId, secret);

interface StoredSecret extends Record<string, unknown> {
  two_factor_secret: Buffer | null;
  /** Database time, ms. */
  at: number;
}

const readStatement = defineStatement({
  name: 'read_two_factor',
  text: `select two_factor_secret, extract(epoch from now()) * 1000 as at from users where user_id = $1`,
});

/** $1 = user id, $2 = time step. Accepts a step once, and no earlier one afterwards (docs/decisions/identity.md#second-factor-steps). */
const stepStatement = defineStatement({
  name: 'use_two_factor_step',
  text: /* sql */ `
    update users set two_factor_step = $2 where user_id = $1 and (two_factor_step is null or two_factor_step < $2) returning 1`,
});

/**
 * Returns whether the authenticator code is right, at most one step off, and unused. Consumes it: call it in the transaction that
 * it authorizes.
 */
export async function useAuthenticatorCode(ctx: Context, userId: string, code: string): Promise<boolean> {
  const [stored] = await run<StoredSecret>(ctx.db, readStatement, [userId]);
  if (!stored?.two_factor_secret) return false;
  const totp = createTotp(decryptField(ctx.config, 'two-factor', userId, stored.two_factor_secret));
  const delta = totp.validate({ token: code, timestamp: stored.at, window: 1 });
  if (delta === null) return false;
  const step = Math.floor(stored.at / 1_000 / PERIOD_SECONDS) + delta;
  return (await run(ctx.db, stepStatement, [userId, step])).length === 1;
}

const canonicalRecovery = (code: string): string => code.toLowerCase().replaceAll(/[\s-]/g, '');
/** Returns the stored forms of a code; it stays valid while the master key of its creation is configured. */
const recoveryHashes = ({ config }: Pick<Context, 'config'>, userId: string, code: string): Buffer[] =>
  keyedHashes(config, 'recovery-code', userId, canonicalRecovery(code));

/** Creates ten codes that each replace the authenticator once, and voids the previous ones. They are never shown again. */
export async function renewRecoveryCodes(ctx: Context, userId: string): Promise<string[]> {
  const one = () => Array.from({ length: RECOVERY_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const codes = Array.from({ length: RECOVERY_CODES }, () => one().replace(/^(.{5})/, '$1-'));
  await RecoveryCode.query(ctx.db).where({ user_id: userId }).delete();
  await RecoveryCode.query(ctx.db).insert(
    codes.map((code) => ({ user_id: userId, code_hash: recoveryHashes(ctx, userId, code)[0] as Buffer })),
  );
  return codes;
}

/**
 * Returns whether `code` is an authenticator code or an unused recovery code. Consumes it: call it in the transaction that it
 * authorizes.
 */
export async function useSecondFactor(ctx: Context, userId: string, code: string): Promise<boolean> {
  const bare = code.replaceAll(/\s/g, '');
  if (/^\d{6}$/.test(bare)) return useAuthenticatorCode(ctx, userId, bare);
  const deleted = await RecoveryCode.query(ctx.db)
    .where({ user_id: userId })
    .whereIn('code_hash', recoveryHashes(ctx, userId, code))
    .delete();
  return deleted === 1;
}

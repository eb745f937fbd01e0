import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { computeHash } from './authenticate.js';
import type { InstanceRole } from '../../platform/access/actor.js';

/** A claimed account, before any proof. */
export interface Account extends Record<string, unknown> {
  user_id: string;
  email: string;
  name: string;
  role: InstanceRole;
  password_hash: string | null;
  /** Neither suspended nor deprovisioned. */
  usable: boolean;
  two_factor: boolean;
  /** An untrusted device needs an emailed code. */
  needs_code: boolean;
  /** The trusted device whose token came with the request. */
  device_id: string | null;
}

/** $1 = email address in lower case, $2 = SHA-256 of a device token or null, $3 = whether emailed codes are required. */
const statement = defineStatement({
  name: 'find_account',
  text: /* sql */ `
    select u.user_id, u.email, u.name, u.role, u.password_hash, u.status = 'active' as usable,
      u.two_factor_enabled_at is not null as two_factor, $3::boolean and not u.login_otp_exempt as needs_code, d.device_id
    from users u left join trusted_devices d on d.user_id = u.user_id and d.token_hash = $2 and d.expires_at > now()
    where u.email = $1`,
});

/** Normalizes an address; one that PostgreSQL cannot store becomes empty and matches nobody. */
export function canonicalAddress(email: string): string {
  const address = email.trim().toLowerCase();
  return address.isWellFormed() && !address.includes('\0') ? address : '';
}

/** Returns the account of a normalized address, with the device that `deviceToken` proves; undefined without an account. */
export async function findAccount(ctx: Context, address: string, deviceToken?: string): Promise<Account | undefined> {
  const device = deviceToken === undefined ? null : computeHash(deviceToken);
  const [account] = await run<Account>(ctx.db, statement, [address, device, ctx.config.LOGIN_OTP === 'required']);
  return account;
}

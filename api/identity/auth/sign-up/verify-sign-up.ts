import { defineStatement, run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { checkCode, useCode } from '../codes/one-time-code.js';
import { createAccount } from '../create-account.js';
import { openSession } from '../open-session.js';
import { hashPassword } from '../passwords.js';
import type { SignedIn } from '../schema.js';
import type { SignUpVerify } from './schema.js';
import type { InstanceRole } from '../../../platform/access/actor.js';

const badCode = () => new DomainError('AUTHENTICATION_REQUIRED', 'Invalid or expired code');

/** Advisory lock id (any constant) that serializes candidates for the first account. */
export const FIRST_ACCOUNT_LOCK = 5_300_001;

const lockStatement = defineStatement({
  name: 'lock_first_account',
  text: `select pg_advisory_xact_lock(${FIRST_ACCOUNT_LOCK})`,
});

/** A row if the installation has an account. */
const anyStatement = defineStatement({ name: 'find_any_account', text: 'select from users limit 1' });

/** Returns `admin` for the first account of an installation and for configured addresses (docs/decisions/identity.md#first-account). */
async function chooseRole(ctx: Context, email: string): Promise<InstanceRole> {
  if (ctx.config.ADMIN_EMAILS.includes(email)) return 'admin';
  const isEmpty = async () => (await run(ctx.db, anyStatement, [])).length === 0;
  if (!(await isEmpty())) return 'user';
  await run(ctx.db, lockStatement, []);
  return (await isEmpty()) ? 'admin' : 'user';
}

function open(ctx: Context, { email, name }: SignUpVerify, codeId: string, passwordHash: string): Promise<SignedIn | undefined> {
  return inTransaction(ctx, async (ctx) => {
    if (!(await useCode(ctx, codeId))) return undefined;
    const role = await chooseRole(ctx, email);
    const user_id = await createAccount(ctx, { email, name, passwordHash, role, loginOtpExempt: false });
    await recordChange(ctx, {
      team_id: null,
      feature: 'auth',
      action: 'sign_up',
      severity: role === 'admin' ? 'HIGH' : 'MEDIUM',
      entity_type: 'user',
      entity_id: user_id,
      details: { role },
    });
    const account = { user_id, email, role, password_hash: passwordHash, two_factor: false, device_id: null };
    return openSession(ctx, account, { trust: true });
  });
}

/**
 * Creates the account by the emailed code and signs in; the device becomes trusted.
 * @throws AUTHENTICATION_REQUIRED wrong, used or expired code | RESOURCE_CONFLICT the address got an account concurrently
 */
export async function verifySignUp(ctx: Context, input: SignUpVerify): Promise<SignedIn> {
  const codeId = await checkCode(ctx, 'sign_up', input.email, input.code);
  const opened = codeId === null ? undefined : await open(ctx, input, codeId, await hashPassword(input.password));
  if (opened) return opened;
  const entity = { entity_type: 'user' as const, entity_id: null };
  await recordChange(ctx, { team_id: null, feature: 'auth', action: 'sign_up_refused', outcome: 'denied', ...entity });
  throw badCode();
}

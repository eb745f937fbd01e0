import { createAccount } from '../auth/create-account.js';
import { hashPassword } from '../auth/passwords.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { invalid } from '../../platform/errors.js';
import { MAIL_ADDRESS } from '../../platform/fields.js';
import { recordChange } from '../../platform/changes/record-change.js';
import type { InstanceRole } from '../../platform/access/actor.js';

export interface NewUser {
  email: string;
  name: string;
  /** Null: the user signs in by emailed codes only, until they set a password. */
  password: string | null;
  role: InstanceRole;
  /** Skips the emailed code for untrusted devices. */
  loginOtpExempt?: boolean;
}

/** Counts code points, like every limit. */
const countCharacters = (text: string): number => Array.from(text).length;

/**
 * Creates an account without the sign-up of the web app: for the operator's command and the demo data. The API has no such route.
 * @throws INVALID_REQUEST email address or password length (12 to 128) | RESOURCE_CONFLICT the address has an account
 */
export async function createUser(
  ctx: Context,
  { email, name, password, role, loginOtpExempt = false }: NewUser,
): Promise<string> {
  const address = email.trim().toLowerCase();
  if (!MAIL_ADDRESS.test(address) || address.length > 320) throw invalid('Invalid email address');
  if (password !== null && (countCharacters(password) < 12 || countCharacters(password) > 128))
    throw invalid('Passwords must have 12 to 128 characters');
  const passwordHash = password === null ? null : await hashPassword(password);
  return inTransaction(ctx, async (ctx) => {
    const userId = await createAccount(ctx, { email: address, name, passwordHash, role, loginOtpExempt });
    await recordChange(ctx, {
      team_id: null,
      feature: 'admin',
      action: 'create',
      severity: 'HIGH',
      entity_type: 'user',
      entity_id: userId,
      details: { role },
    });
    return userId;
  });
}

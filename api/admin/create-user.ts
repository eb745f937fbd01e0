import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { hashPassword } from '../auth/passwords.js';
import { type Context, inTransaction } from '../core/context.js';
import { conflict, invalid } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';

export interface NewUser {
  email: string;
  name: string;
  /** Null: signs in by mailed code only, until a password is set. */
  password: string | null;
  role: 'user' | 'admin';
  /** Signs in without the mailed code of an untrusted device. */
  loginOtpExempt?: boolean;
}

/** Code points, as every limit counts them. */
const lengthOf = (text: string): number => Array.from(text).length;

/** A picture made from the name: a URL, never null (A8). */
const avatarOf = (userId: string, name: string): string => {
  const hue = createHash('sha256').update(userId).digest().readUInt16BE(0) % 360;
  const initials = name
    .split(/\s+/)
    .map((word) => Array.from(word)[0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase();
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="hsl(${hue},45%,45%)"/><text x="32" y="40" font-family="sans-serif" font-size="24" fill="#fff" text-anchor="middle">${initials.replace(/[<>&"']/g, '')}</text></svg>`;
  return `data:image/svg+xml;utf8,${encodeURIComponent(svg)}`;
};

/** The mail's name, made unique by a number (A8). */
async function freeUsername(ctx: Context, email: string): Promise<string> {
  const base = (email.split('@')[0] ?? 'user').replace(/[^\w.-]/g, '').slice(0, 60) || 'user';
  const taken = new Set(
    await ctx
      .db('users')
      .where('username', 'like', `${base.replace(/[_%\\]/g, '\\$&')}%`)
      .pluck<string[]>('username'),
  );
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? base : `${base}${n}`;
    if (!taken.has(name)) return name;
  }
}

/**
 * Makes an account without the sign-up of the web app: the operator's command and the demo data. Over the API there is no such
 * route (contract, section 1).
 * @throws INVALID_REQUEST mail address or password length (A1: 12 to 128) | RESOURCE_CONFLICT the address has an account
 */
export async function createUser(
  ctx: Context,
  { email, name, password, role, loginOtpExempt = false }: NewUser,
): Promise<string> {
  const address = email.trim().toLowerCase();
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(address) || address.length > 320) throw invalid('This is no mail address');
  if (password !== null && (lengthOf(password) < 12 || lengthOf(password) > 128))
    throw invalid('A password has 12 to 128 characters');
  const passwordHash = password === null ? null : await hashPassword(password);
  return inTransaction(ctx, async (ctx) => {
    const userId = uuidv7();
    const made = await ctx
      .db('users')
      .insert({
        user_id: userId,
        email: address,
        name,
        username: await freeUsername(ctx, address),
        display_name: name,
        avatar: avatarOf(userId, name),
        role,
        password_hash: passwordHash,
        login_otp_exempt: loginOtpExempt,
      })
      .onConflict('email')
      .ignore()
      .returning<{ user_id: string }[]>('user_id');
    if (made.length === 0) throw conflict(`${address} already has an account`);
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

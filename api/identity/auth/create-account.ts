import { createHash } from 'node:crypto';
import { User } from '../../../db/models/identity/user.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import type { InstanceRole } from '../../platform/access/actor.js';

interface NewAccount {
  /** Lower case. */
  email: string;
  name: string;
  passwordHash: string | null;
  role: InstanceRole;
  loginOtpExempt: boolean;
}

/**
 * $1 = user id, $2 = address, $3 = name, $4 = username, $5 = avatar, $6 = role, $7 = password hash, $8 = whether sign-in needs no emailed code.
 * No row: the address or the username is taken.
 */
const insertStatement = defineStatement({
  name: 'insert_user',
  text: /* sql */ `
    insert into users (user_id, email, name, display_name, username, avatar, role, password_hash, login_otp_exempt)
    values ($1, $2, $3, $3, $4, $5, $6, $7, $8) on conflict do nothing returning 1`,
});

/** Returns an avatar generated from the name: a URL, never null. */
const buildAvatar = (userId: string, name: string): string => {
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

/** Returns the local part of the address, with a number if it is taken. */
async function freeUsername(ctx: Context, email: string): Promise<string> {
  const base = (email.split('@')[0] ?? 'user').replace(/[^\w.-]/g, '').slice(0, 60) || 'user';
  const rows = await User.query(ctx.db)
    .where('username', 'like', `${base.replace(/[_%\\]/g, '\\$&')}%`)
    .select('username');
  const taken = new Set(rows.map(({ username }) => username));
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? base : `${base}${n}`;
    if (!taken.has(name)) return name;
  }
}

/**
 * Inserts an account in the caller's open transaction; the caller records the change.
 * @returns its id
 * @throws RESOURCE_CONFLICT the address has an account
 */
export async function createAccount(ctx: Context, account: NewAccount): Promise<string> {
  const { email, name, passwordHash, role, loginOtpExempt } = account;
  const user_id = newId();
  // The username may be taken between lookup and insert; the loop then picks another number.
  for (;;) {
    const username = await freeUsername(ctx, email);
    const avatar = buildAvatar(user_id, name);
    const values = [user_id, email, name, username, avatar, role, passwordHash, loginOtpExempt];
    if ((await run(ctx.db, insertStatement, values)).length === 1) return user_id;
    if (await User.query(ctx.db).findOne({ email }).select('user_id')) throw conflict(`${email} already has an account`);
  }
}

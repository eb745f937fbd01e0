import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import { Secret, TOTP } from 'otpauth';
import { v7 as uuidv7 } from 'uuid';
import { renewRecoveryCodes, sealSecret } from '../../api/identity/auth/two-factor/second-factor.js';
import type { Context } from '../../api/platform/context.js';
import { listMails } from '../../api/platform/mail/list-mails.js';
import type { TestApp } from '../support/app.js';

export const PASSWORD = 'correct horse battery';
/** Cheaper than the product's, so that hundreds of attempts take seconds. */
const QUICK = { memoryCost: 1024, timeCost: 1, parallelism: 1 };
let passwordHash: Promise<string> | undefined;

/** PASSWORD as it is stored. */
export const hashedPassword = (): Promise<string> => (passwordHash ??= hash(PASSWORD, QUICK));

export interface TestAccount {
  user_id: string;
  email: string;
}

/** A context of nobody in particular, as a public route has it. */
export function buildContext({ services }: TestApp): Context {
  const requestId = uuidv7();
  const actor = { type: 'system', name: 'anonymous' } as const;
  return { ...services, actor, requestId, correlationId: requestId, ip: '10.0.0.7', userAgent: 'test' };
}

/** An account that signs in with PASSWORD alone, unless `fields` say otherwise. */
export async function buildAccount(app: TestApp, fields: Record<string, unknown> = {}): Promise<TestAccount> {
  const name = `a${randomBytes(5).toString('hex')}`;
  const account = { user_id: uuidv7(), email: `${name}@test.example` };
  await app.services.db('users').insert({
    ...account,
    name,
    username: name,
    display_name: name,
    avatar: 'https://example.test/a.png',
    password_hash: await hashedPassword(),
    login_otp_exempt: true,
    ...fields,
  });
  return account;
}

const STEP_MS = 30_000;

/** The authenticator app of an account, one code a step. */
export class Authenticator {
  private readonly totp: TOTP;

  constructor(readonly secret = new Secret({ size: 20 }).base32) {
    this.totp = new TOTP({ secret: Secret.fromBase32(secret) });
  }

  /** The code shown `steps` of 30 seconds from now. */
  code = (steps = 0): string => this.totp.generate({ timestamp: Date.now() + steps * STEP_MS });

  /** Waits for the next step if this one is nearly over: a code of the step before it would then be two steps old at the server. */
  async early(): Promise<this> {
    const left = STEP_MS - (Date.now() % STEP_MS);
    // A timer may fire a millisecond before the clock reaches the step.
    if (left < STEP_MS / 3) await sleep(left + 50);
    return this;
  }
}

/** An account that signs in with two factors, its authenticator and its recovery codes. */
export async function buildTwoFactorAccount(
  app: TestApp,
  fields: Record<string, unknown> = {},
): Promise<TestAccount & { authenticator: Authenticator; recovery: string[] }> {
  const account = await buildAccount(app, fields);
  const authenticator = new Authenticator();
  await app.services
    .db('users')
    .where({ user_id: account.user_id })
    .update({
      two_factor_secret: sealSecret(app.services, account.user_id, authenticator.secret),
      two_factor_enabled_at: new Date(),
    });
  return { ...account, authenticator, recovery: await renewRecoveryCodes(buildContext(app), account.user_id) };
}

/** The mails that wait for an address, newest first. */
export const mailsTo = (app: TestApp, { email }: { email: string }) => listMails(app.services, email);

/** The six digits of the newest mail to an address. @throws when there is none */
export async function mailedCode(app: TestApp, to: { email: string }): Promise<string> {
  const code = /\b\d{6}\b/.exec((await mailsTo(app, to))[0]?.text ?? '')?.[0];
  if (!code) throw new Error(`No code was mailed to ${to.email}`);
  return code;
}

/** Six digits that are not these. */
export const otherCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

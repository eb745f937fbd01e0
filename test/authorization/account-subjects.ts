import { hash } from '@node-rs/argon2';
import { issueCode, type Purpose } from '../../api/identity/auth/codes/one-time-code.js';
import { renewRecoveryCodes, sealSecret } from '../../api/identity/auth/two-factor/second-factor.js';
import { Authenticator, buildTwoFactorAccount, buildContext } from '../factories/accounts.js';
import { buildPerson, type Person } from '../factories/people.js';
import type { Subject } from './subjects.js';
import type { Tenant, World } from './world.js';

/** Of every account in the matrix. */
export const PASSWORD = 'correct horse battery staple';
let passwordHash: Promise<string> | undefined;
const quickHash = () => (passwordHash ??= hash(PASSWORD, { memoryCost: 1024, timeCost: 1, parallelism: 1 }));

type Build = (world: World, wish: { tenant: Tenant }) => Promise<Subject>;

/** `credential`: signed-in callers act as the subject's own user, because the call ends sessions or changes credentials. */
const getSubject = ({ tenant }: { tenant: Tenant }, id: string, canary: string, credential?: string): Subject => ({
  id,
  team_id: tenant.team_id,
  project_id: tenant.project_id,
  task_id: '',
  user_id: tenant.colleague.user_id,
  canary,
  ...(credential ? { credential } : {}),
});

/** A person with PASSWORD and whatever else `fields` say. */
async function buildWithPassword({ app }: World, fields: Record<string, unknown> = {}): Promise<Person> {
  const person = await buildPerson(app);
  const changed = { password_hash: await quickHash(), login_otp_exempt: true, ...fields };
  await app.services.db('users').where({ user_id: person.user_id }).update(changed);
  return person;
}

/** An account that signs in with a password; `id` is its mail address, `canary` its password. */
export const account: Build = async (world, wish) => {
  const person = await buildWithPassword(world);
  return getSubject(wish, person.email, PASSWORD);
};

/** An account with a mailed code, which is the `canary`. */
const withCode =
  (purpose: Purpose): Build =>
  async (world, wish) => {
    const { email } = await buildWithPassword(world, { login_otp_exempt: false });
    return getSubject(wish, email, (await issueCode(buildContext(world.app), purpose, email)) ?? '');
  };

/** An account with two factors; a recovery code is the `canary`. */
export const twoFactorAccount: Build = async (world, wish) => {
  const made = await buildTwoFactorAccount(world.app, { password_hash: await quickHash() });
  return getSubject(wish, made.email, made.recovery[0] ?? '');
};

/** The caller, with a password of their own. */
export const self: Build = async (world, wish) => {
  const person = await buildWithPassword(world);
  return getSubject(wish, person.user_id, PASSWORD, person.token);
};

/** The caller, in the middle of an enrolment; the authenticator's code is the `canary`. */
export const enrollingSelf: Build = async (world, wish) => {
  const person = await buildWithPassword(world);
  const authenticator = new Authenticator();
  const two_factor_secret = sealSecret(world.app.services, person.user_id, authenticator.secret);
  await world.app.services.db('users').where({ user_id: person.user_id }).update({ two_factor_secret });
  return getSubject(wish, person.user_id, authenticator.code(), person.token);
};

/** The caller, who signs in with two factors; a recovery code is the `canary`. */
export const twoFactorSelf: Build = async (world, wish) => {
  const person = await buildWithPassword(world, { two_factor_enabled_at: new Date() });
  const [code = ''] = await renewRecoveryCodes(buildContext(world.app), person.user_id);
  return getSubject(wish, person.user_id, code, person.token);
};

/** A sign-in of the caller. */
export const ownSession: Build = async (world, wish) => {
  const person = await buildPerson(world.app);
  const row = await world.app.services.db('sessions').where({ user_id: person.user_id }).first();
  return getSubject(wish, row.session_id, `canary ${row.session_id}`, person.token);
};

/** A trusted device of the caller. */
export const ownDevice: Build = async (world, wish) => {
  const person = await buildPerson(world.app);
  const [{ device_id }] = await world.app.services
    .db('trusted_devices')
    .insert({ user_id: person.user_id, token_hash: Buffer.from(person.token), expires_at: new Date(Date.now() + 86_400_000) })
    .returning('device_id');
  return getSubject(wish, device_id, `canary ${device_id}`, person.token);
};

/** The same record, of a person who is not calling. */
const anothers =
  (build: Build): Build =>
  async (world, wish) => {
    const { credential: _whose, ...subject } = await build(world, wish);
    return subject;
  };

export const loginCode = withCode('login');
export const resetCode = withCode('password_reset');
export const anothersSession = anothers(ownSession);
export const anothersDevice = anothers(ownDevice);

import { randomBytes } from 'node:crypto';
import { createUser } from '../../api/identity/admin/create-user.js';
import { getDeprovisionJob } from '../../api/identity/admin/deprovisioning/get-job.js';
import { requestDeprovision } from '../../api/identity/admin/deprovisioning/request-deprovision.js';
import { listUsers } from '../../api/identity/admin/list-users.js';
import { reinstateUser } from '../../api/identity/admin/reinstate-user.js';
import { resetTwoFactor } from '../../api/identity/admin/reset-two-factor.js';
import { suspendUser } from '../../api/identity/admin/suspend-user.js';
import { changeBillingTier } from '../../api/identity/admin/change-billing-tier.js';
import { unlockUser } from '../../api/identity/admin/unlock-user.js';
import type { Context } from '../../api/platform/context.js';
import { invalid, notFound } from '../../api/platform/errors.js';
import { Id } from '../../api/platform/fields.js';
import { setFileQuota } from '../../api/work/items/files/set-file-quota.js';
import { sweepObjects } from '../../api/work/items/files/sweep-objects.js';
import { listParkedRows, replayParkedRow } from '../../api/platform/outbox/parked-rows.js';
import { rebuildIndex } from '../../api/work/search/rebuild-index.js';
import type { BillingTier } from '../../api/platform/access/billing-tiers.js';

/** Parsed arguments behind the command's name. */
interface CommandInput {
  /** The first positional argument: the command's subject. */
  about: string;
  values: Record<string, string | boolean | undefined>;
}

interface Command {
  /** Usage text behind the command's name. */
  usage: string;
  says: string;
  /** True for commands without a subject. */
  alone?: true;
  /** Runs the same operation as the API; returns the lines to print. */
  run: (ctx: Context, given: CommandInput) => Promise<string[]>;
}

const text = (value: string | boolean | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

/** Returns a user by email address or id. @throws RESOURCE_NOT_FOUND */
async function requireUser({ db }: Context, about: string): Promise<string> {
  const which = about.includes('@') ? { email: about.trim().toLowerCase() } : { user_id: Id.parse(about) };
  const [userId] = await db('users').where(which).pluck<string[]>('user_id');
  if (!userId) throw notFound('User');
  return userId;
}

/** @throws INVALID_REQUEST without a reason, which the audit log requires */
function getReason({ values }: CommandInput): string {
  const reason = text(values['reason'])?.trim();
  if (!reason) throw invalid('Required: --reason "…"');
  return reason;
}

const TIERS: BillingTier[] = ['free', 'team', 'scale'];
const STATUSES = ['active', 'suspended', 'deprovisioned'] as const;

async function create(ctx: Context, { values }: CommandInput): Promise<string[]> {
  const [email, name] = [text(values['email']), text(values['name'])];
  if (!email || !name) throw invalid('Required: --email ada@example.com --name "Ada Lovelace"');
  const given = process.env['ADMIN_USER_PASSWORD'];
  const password = given ?? randomBytes(15).toString('base64url');
  const role = values['admin'] === true ? 'admin' : 'user';
  const userId = await createUser(ctx, { email, name, password, role, loginOtpExempt: values['no-login-code'] === true });
  return [`created ${email} (${userId})${given ? '' : `, password ${password}`}`];
}

async function list(ctx: Context, { about, values }: CommandInput): Promise<string[]> {
  const status = STATUSES.find((name) => name === values['status']);
  if (values['status'] !== undefined && !status) throw invalid(`--status must be one of ${STATUSES.join(', ')}`);
  const users = await listUsers(ctx, { q: about || undefined, status, limit: 500, offset: 0 });
  const marks = (user: (typeof users)[number]) =>
    [user.role === 'admin' && 'admin', user.two_factor_enabled && '2fa', user.locked && 'locked'].filter(Boolean).join(' ');
  return users.map((user) => [user.user_id, user.status.padEnd(13), user.email, user.name, marks(user)].join('  ').trimEnd());
}

async function deprovision(ctx: Context, given: CommandInput): Promise<string[]> {
  const heir = text(given.values['reassign-to']);
  const wish = { reason: getReason(given), reassign_to: heir === undefined ? null : await requireUser(ctx, heir) };
  const { job_id, status } = await requestDeprovision(ctx, await requireUser(ctx, given.about), wish);
  return [`job ${job_id} is ${status}; the worker runs it: npm run admin -- job ${job_id}`];
}

async function printJob(ctx: Context, { about }: CommandInput): Promise<string[]> {
  const { status, steps } = await getDeprovisionJob(ctx, Id.parse(about));
  return [status, ...steps.map(({ step, team_id, result }) => `  ${step} ${team_id ?? ''} ${JSON.stringify(result)}`)];
}

async function setPlan(ctx: Context, { about, values }: CommandInput): Promise<string[]> {
  const plan = TIERS.find((name) => name === values['plan']);
  if (!plan) throw invalid(`--plan must be one of ${TIERS.join(', ')}`);
  const { entitlements } = await changeBillingTier(ctx, Id.parse(about), plan);
  return [`team ${about} is on ${plan}${entitlements.length > 0 ? `, with ${entitlements.join(', ')}` : ''}`];
}

async function setQuota(ctx: Context, { about, values }: CommandInput): Promise<string[]> {
  const given = text(values['mb']);
  if (given === undefined || !/^(default|\d{1,9})$/.test(given)) throw invalid('Required: --mb 1024, or --mb default');
  const megabytes = given === 'default' ? null : Number(given);
  const { bytes, quota } = await setFileQuota(ctx, Id.parse(about), megabytes);
  return [`team ${about} stores ${bytes} of at most ${quota} bytes`];
}

async function sweepFiles(ctx: Context, { values }: CommandInput): Promise<string[]> {
  const hours = text(values['older-than-hours']);
  if (hours !== undefined && !/^\d{1,5}$/.test(hours)) throw invalid('--older-than-hours must be a whole number');
  return [`removed ${await sweepObjects(ctx, hours === undefined ? undefined : Number(hours))} objects`];
}

/** Maximum number of parked rows listed. */
const MAX_PARKED = 500;

async function listParked(ctx: Context): Promise<string[]> {
  const rows = await listParkedRows(ctx, MAX_PARKED);
  const lines = rows.map(({ outbox_id, kind, subject, team_id, failures, created_at, parked_at, last_error }) =>
    [
      `${outbox_id}  ${kind}  ${subject}  team ${team_id ?? '-'}  created ${created_at.toISOString()}`,
      `  parked ${parked_at.toISOString()} after ${failures} failures: ${last_error}`,
    ].join('\n'),
  );
  return lines.length > 0 ? lines : ['no parked rows'];
}

async function replayParked(ctx: Context, { about }: CommandInput): Promise<string[]> {
  if (!/^\d{1,15}$/.test(about)) throw invalid('Required: the row id from outbox-parked');
  const { kind, subject } = await replayParkedRow(ctx, Number(about));
  return [`row ${about} (${kind} ${subject}) is due again; another failure parks it again`];
}

/** Every operator command by its name, for use without a browser. */
export const COMMANDS: Record<string, Command> = {
  'create-user': {
    usage: '--email ada@example.com --name "Ada Lovelace" [--admin] [--no-login-code]',
    says: 'Creates an account and prints its password once (or uses ADMIN_USER_PASSWORD)',
    alone: true,
    run: create,
  },
  'list-users': {
    usage: '[PART] [--status active]',
    says: 'Lists up to 500 users by part of email or name',
    alone: true,
    run: list,
  },
  suspend: {
    usage: 'USER --reason "…"',
    says: 'Suspends a user; sessions end, tokens are disabled',
    run: async (ctx, given) => [(await suspendUser(ctx, await requireUser(ctx, given.about), getReason(given))).status],
  },
  reinstate: {
    usage: 'USER',
    says: 'Reinstates a user',
    run: async (ctx, { about }) => [(await reinstateUser(ctx, await requireUser(ctx, about))).status],
  },
  unlock: {
    usage: 'USER',
    says: 'Unlocks a user after failed sign-ins',
    run: async (ctx, { about }) => [`unlocked, ${(await unlockUser(ctx, await requireUser(ctx, about))).status}`],
  },
  'reset-2fa': {
    usage: 'USER',
    says: 'Disables two-factor authentication for a lost device; notifies the user by email',
    run: async (ctx, { about }) => [(await resetTwoFactor(ctx, await requireUser(ctx, about))) ? 'disabled' : 'was not enabled'],
  },
  deprovision: {
    usage: 'USER --reason "…" [--reassign-to USER]',
    says: 'Deprovisions a user',
    run: deprovision,
  },
  job: { usage: 'JOB', says: 'Shows a deprovision job', run: printJob },
  'outbox-parked': {
    usage: '',
    says: 'Lists parked outbox rows with their errors',
    alone: true,
    run: listParked,
  },
  'outbox-replay': { usage: 'ROW', says: 'Retries a parked outbox row', run: replayParked },
  'search-rebuild': {
    usage: '',
    says: 'Has the worker index every item for search again; searches continue meanwhile',
    alone: true,
    run: async (ctx) => [`marked ${await rebuildIndex(ctx)} items; the worker indexes them`],
  },
  'set-file-quota': {
    usage: 'TEAM_ID --mb 1024|default',
    says: 'Sets how many MiB of files a team may store',
    run: setQuota,
  },
  'sweep-files': {
    usage: '[--older-than-hours 24]',
    says: 'Removes stored bytes without a file; below 24 hours only while nobody uploads',
    alone: true,
    run: sweepFiles,
  },
  'set-plan': { usage: 'TEAM_ID --plan free|team|scale', says: 'Changes a team’s plan', run: setPlan },
};

/** Returns the help of `npm run admin`; USER is an email address or an id. */
export const usage = (): string =>
  [
    'Operator commands. USER is an email address or an id.',
    ...Object.entries(COMMANDS).map(([name, command]) => `  npm run admin -- ${name} ${command.usage}\n      ${command.says}`),
  ].join('\n\n');

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { developmentSecrets } from './crypto/development-secrets.js';
import { allowedHosts } from './settings/allowed-hosts.js';
import { describeIssue } from './settings/describe-issue.js';
import { fileStoreProblems } from './settings/file-store-settings.js';
import { modelProblems, modelSettings } from './settings/model-settings.js';
import { peopleSettings } from './settings/people-settings.js';
import { secretProblems, withCommand } from './settings/production-secrets.js';
import { RUNNER_LIMITS, runnerSettings } from './settings/runner-settings.js';
import { receiptKeyProblems, signingSettings } from './settings/signing-settings.js';
import { temporalTlsProblems } from './settings/temporal-tls.js';
import { traceSettings } from './settings/trace-settings.js';
import { WEBHOOK_LIMITS, webhookSettings } from './settings/webhook-settings.js';

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const count = (fallback: number, min = 1, max = 1_000_000_000) => z.coerce.number().int().min(min).max(max).default(fallback);
const secret = z.string().refine((value) => Buffer.byteLength(value) >= 32, 'must be at least 32 bytes');
/** Such as postgres://h1,h2/db or ?host=h1,h2, which libpq takes and our driver does not. */
const hasSeveralHosts = (address: string): boolean =>
  /^[^/]*\/\/[^/?#]*,/.test(address.replace(/\/\/[^/?#]*@/, '//')) || /[?&]host=[^&]*(,|%2C)/i.test(address);
const isMasterKey = (value: string): boolean => Buffer.from(value, 'base64').length === 32;
/** A limit per minute; 0 disables it. */
const perMinute = (fallback: number) => count(fallback, 0);

/** Every setting with its default and description; a test compares `.env.example` with it. */
export const Settings = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('production'),
  BIND_ADDRESS: z.string().default('127.0.0.1').describe('Address the servers listen on; 0.0.0.0 in a container'),
  PORT: port(3000).describe('The API'),
  METRICS_PORT: port(4000).describe('/livez, /readyz and /metrics of the API'),
  WORKER_METRICS_PORT: port(4001).describe('/livez and /metrics of the worker'),
  API_PROCESSES: z
    .string()
    .regex(/^(auto|[1-9]\d?)$/, 'must be auto, or a number from 1 to 99')
    .default('1')
    .transform((given) => (given === 'auto' ? availableParallelism() : Number(given)))
    .describe('Processes that serve the API behind one address, each with its own pool; auto is one for each core'),
  SHUTDOWN_DELAY_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(300)
    .optional()
    .describe(
      'Time for which a stopping API is not ready but accepts requests, so that a load balancer notices; 5 in production',
    ),
  BASE_URL: z.url().optional().describe('Public address, used in links; required in production'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DATA_DIR: z.string().default('.data').describe('Development data, signed audit checkpoints, uploaded files'),
  FILE_STORE: z.enum(['disk', 's3']).default('disk').describe('Where uploaded files are: DATA_DIR/files, or a bucket'),
  FILE_QUOTA_MB: count(5120, 0).describe('Uploaded files of a team, MiB, those in the trash included'),
  FILE_UPLOAD_SECONDS: count(300, 1, 3600).describe('Time for one upload'),
  S3_ENDPOINT: z.url().optional().describe('S3-compatible object store; the bucket is addressed by path'),
  S3_BUCKET: z.string().min(1).optional().describe('A bucket that no other installation uses'),
  S3_REGION: z.string().min(1).default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, { error: 'must be a postgresql:// address', abort: true })
    .refine(
      (address) => !hasSeveralHosts(address),
      'names several hosts: give one name that moves to the new primary (docs/operate/failover.md)',
    )
    .refine((address) => URL.canParse(address), 'is malformed: write special characters of the password as %XX')
    .describe('PostgreSQL 18'),
  LIVE_STREAMS: count(2000).describe('Streams of changes (GET /api/events) that each process serves at once'),
  LIVE_STREAMS_PER_USER: count(20).describe('Those of one user, in each process'),
  DATABASE_POOL_SIZE: count(8, 1, 200).describe('Connections of each process for its main work'),
  TEMPORAL_ADDRESS: z.string().default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_TLS: z.enum(['on', 'off']).default('off').describe('Whether the worker connects to Temporal over TLS'),
  TEMPORAL_TLS_CA: z.string().optional().describe('PEM: authority of the server’s certificate, if the system does not trust it'),
  TEMPORAL_TLS_CERT: z.string().optional().describe('PEM: client certificate, if Temporal requires one (mutual TLS)'),
  TEMPORAL_TLS_KEY: z.string().optional().describe('PEM: its private key'),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional().describe('Name in the server’s certificate, if not that of TEMPORAL_ADDRESS'),
  TEMPORAL_API_KEY: z.string().optional().describe('Sent to Temporal as a bearer token, over TLS only'),
  TEMPORAL_UI_URL: z.url().optional().describe('Shown in links to a run'),
  TASK_QUEUE_PREFIX: z
    .string()
    .regex(/^[\w-]*$/)
    .default('')
    .describe('Keeps installations apart on one Temporal server'),
  MAINTENANCE_SCHEDULES: z
    .enum(['create', 'skip'])
    .default('create')
    .describe('Whether a worker creates the Schedules of maintenance jobs at its start; one worker of an installation must'),
  WORKFLOW_BUNDLE: z.string().default('.build/workflow-bundle.js').describe('Workflow code, bundled ahead'),
  JWT_SECRET: secret.describe('Signs sign-in tokens (HS256), at least 32 bytes'),
  SECRETS_MASTER_KEY: z
    .string()
    .refine(isMasterKey, 'must be 32 bytes in base64')
    .describe('Encrypts what is stored encrypted: 32 bytes in base64'),
  SECRETS_MASTER_KEY_PREVIOUS: z
    .string()
    .default('')
    .transform((list) => list.split(/[\s,]+/).filter((key) => key !== ''))
    .refine((keys) => keys.every(isMasterKey), 'must be keys of 32 bytes in base64, separated by commas')
    .describe('Decrypt-only keys, newest first, until npm run secrets:rotate has finished'),
  ...signingSettings,
  FORGE_WEBHOOK_SECRET: z.string().min(1).optional().describe('Shared with the code host; without it every delivery is rejected'),
  FORGE_WEBHOOK_SECRET_PREVIOUS: z.string().min(1).optional().describe('Still accepted while the secret is rotated'),
  FORGE_UNBOUND: z.enum(['all', 'none']).optional().describe('Who receives events of a repository that no team has bound'),
  FORGE_BINDING: z
    .enum(['verified', 'open'])
    .optional()
    .describe('Whether binding a repository requires push permission at the code host'),
  FORGE_URL: z.url().default('https://github.com').describe('Code host whose accounts users connect'),
  FORGE_API_URL: z.url().default('https://api.github.com').describe('Its API'),
  FORGE_CLIENT_ID: z
    .string()
    .optional()
    .describe('OAuth client of this installation at the code host; required to connect accounts'),
  FORGE_CLIENT_SECRET: z.string().optional(),
  MAIL_URL: z
    .string()
    .regex(/^smtps?:\/\//, 'must be an smtp:// or smtps:// address')
    // The mail library would print a malformed address with its password.
    .refine((address) => URL.canParse(address), 'is malformed: write special characters of the password as %XX')
    .optional()
    .describe('Mail server; without it emails stay queued, and development shows them at /dev/mailbox'),
  MAIL_FROM: z.string().includes('@').default('Assent <assent@localhost>').describe('Sender of every email'),
  ADMIN_EMAILS: z
    .string()
    .default('')
    .transform((list) => list.split(',').map((address) => address.trim().toLowerCase()))
    .describe('Addresses, separated by commas, whose accounts become administrators at sign-up'),
  CORS_ORIGINS: z
    .string()
    .default('')
    .transform((list) => list.split(',').flatMap((origin) => origin.trim() || []))
    .refine(
      (origins) => origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
      'must be origins such as https://app.example.com, separated by commas',
    )
    .describe('Origins, separated by commas, whose pages may call the API from a browser'),
  LOGIN_OTP: z.enum(['required', 'off']).default('required').describe('Emailed code on an untrusted device'),
  DEFAULT_TEAM_PLAN: z.enum(['free', 'team', 'scale']).default('scale'),
  PAT_SCOPE_ENFORCEMENT: z
    .enum(['spec', 'strict'])
    .default('spec')
    .describe('Seven routes (docs/decisions/identity.md#token-scopes), or every route'),
  TRUST_PROXY_HOPS: count(0, 0, 10).describe('Reverse proxies whose X-Forwarded-For entries are trusted'),
  OUTBOUND_LOOPBACK: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe('Whether automations may send requests to this machine; never in production'),
  OUTBOUND_PORTS: z
    .string()
    .default('80,443,8080,8443')
    .transform((list) => list.split(',').map(Number))
    .refine(
      (ports) => ports.every((each) => Number.isInteger(each) && each > 0 && each < 65_536),
      'must be ports separated by commas',
    )
    .describe('Ports that automations and webhooks may send requests to'),
  WEBHOOK_ALLOWED_HOSTS: allowedHosts.describe(
    'Hosts or addresses, each optionally with a port, that webhooks may reach although they are not public; outside production also over plain http and on this machine',
  ),
  ...peopleSettings,
  ...modelSettings,
  ...webhookSettings,
  ...runnerSettings,
  ...traceSettings,
  RATE_LIMIT_LOGIN: perMinute(10),
  RATE_LIMIT_CODES: perMinute(5).describe('Each route that accepts or emails a code, per client address'),
  RATE_LIMIT_FILE_UPLOAD: perMinute(10).describe('Uploads of files, per client address; imports and their uploads, per user'),
  RATE_LIMIT_FORGE_WEBHOOK: perMinute(120),
  RATE_LIMIT_AI: perMinute(30).describe(
    'Each limited route of the AI workspace, per address; decisions about requests, per user',
  ),
  RATE_LIMIT_REQUEST_CREATE: perMinute(60).describe('Change requests made, per token'),
  RATE_LIMIT_MCP: perMinute(120).describe('Messages to the MCP endpoint, per token'),
  RATE_LIMIT_MCP_PROPOSE: perMinute(30).describe('Plans proposed over MCP, per token'),
  RATE_LIMIT_AUTOMATION_DISPATCH: perMinute(10).describe('Execute, test and retry together, per user'),
  RATE_LIMIT_AUTOMATION_HOOK: perMinute(60).describe('Calls of the address of an automation'),
  JWT_MINUTES: count(60),
  SESSION_DAYS: count(30),
  SESSION_IDLE_HOURS: count(12).describe('Idle time after which a session ends'),
  TRUSTED_DEVICE_DAYS: count(30),
  CODE_MINUTES: count(10).describe('Lifetime of an emailed code'),
  CODE_MAX_ATTEMPTS: count(5),
  PAT_DEFAULT_DAYS: count(90, 1, 3650).describe('Lifetime of a personal access token without an explicit one'),
  IMPERSONATION_MINUTES: count(30, 1, 60),
  LOCKOUT_FAILURES: count(20, 2),
  LOCKOUT_MINUTES: count(15),
  LIST_MAX_BYTES: count(10_000_000, 1, 100_000_000).describe('Body of a list, at which a page ends'),
  TRASH_RETENTION_DAYS: count(30),
  OUTBOX_GIVE_UP_HOURS: count(24),
  AUTOMATION_MAX_DEPTH: count(10).describe('Maximum length of a chain of automations that start each other'),
  AUTOMATION_BREAKER_RUNS: count(100).describe('Runs a minute, started by other runs, that disable an automation'),
  AUTOMATION_VERSIONS: count(100, 2).describe(
    'Newest versions of an automation that are kept; older ones only while runs refer to them',
  ),
  AUTOMATION_VERSIONS_BYTES: count(1_000_000).describe('Bytes of these versions, as stored; the newest two always stay'),
  RUN_HISTORY_DAYS: count(90).describe('Finished runs and plans are deleted after this time'),
  RUN_HISTORY_SKIPPED_DAYS: count(7).describe('The same for skipped runs'),
  SKIPPED_RUNS_PER_HOUR: count(10_000, 0).describe('Skipped runs that a team keeps an hour; more are counted, not kept'),
  BULK_HISTORY_DAYS: count(90).describe('Exports and imports that have ended are forgotten after this time'),
  CI_TRIAGE_SECONDS: count(60, 0, 600).describe(
    'Quiet time after the last delivery of a failed CI run before its plan is staged',
  ),
  GATE_CLEANUP_DAYS: count(30).describe('An expired gate that is not rejected ends its run after this time'),
});

export type Config = z.output<typeof Settings>;

/** Limits that clients rely on; only tests and benchmarks may change them, never production. */
export const FIXED_IN_PRODUCTION = [
  'RATE_LIMIT_LOGIN',
  'RATE_LIMIT_CODES',
  'RATE_LIMIT_FILE_UPLOAD',
  'RATE_LIMIT_FORGE_WEBHOOK',
  'RATE_LIMIT_AI',
  'RATE_LIMIT_REQUEST_CREATE',
  'RATE_LIMIT_MCP',
  'RATE_LIMIT_MCP_PROPOSE',
  'AI_CHAT_SECONDS',
  'AI_CHAT_BEGIN_SECONDS',
  'LIST_MAX_BYTES',
  'TRASH_RETENTION_DAYS',
  ...WEBHOOK_LIMITS,
  ...RUNNER_LIMITS,
] as const;

/** Reads `NAME_FILE` as the path of a file with the value of `NAME` (container secrets). Reports unreadable files. */
function withFiles(env: NodeJS.ProcessEnv): { given: Record<string, string | undefined>; problems: string[] } {
  const given: Record<string, string | undefined> = {};
  const problems: string[] = [];
  for (const name of Object.keys(Settings.shape)) {
    // An empty variable counts as absent, because compose files and .env templates set empty ones.
    if (env[name]) given[name] = env[name];
    const path = env[`${name}_FILE`];
    if (!path) continue;
    try {
      // An empty file counts as absent: a secret that is not in use yet.
      given[name] = readFileSync(path, 'utf8').trim() || undefined;
    } catch (error) {
      problems.push(`${name}_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return { given, problems };
}

/** Returns problems that only production has although each setting is well-formed. */
function productionProblems(given: Record<string, string | undefined>): string[] {
  const problems = [
    ...FIXED_IN_PRODUCTION.filter((name) => given[name] !== undefined).map(
      (name) => `${name}: fixed by the contract in production`,
    ),
    given['MAIL_URL'] === undefined &&
      given['LOGIN_OTP'] !== 'off' &&
      'MAIL_URL: needed, because signing in takes a mailed code (or set LOGIN_OTP=off)',
    given['OUTBOUND_LOOPBACK'] === 'allow' && 'OUTBOUND_LOOPBACK: for development only',
    given['DATABASE_URL']?.includes('demo-password') && 'DATABASE_URL: holds the demo password',
    ...secretProblems(given),
  ];
  return problems.filter((problem) => typeof problem === 'string');
}

/**
 * Reads the settings from the environment and lists every problem at once. Outside production, missing secrets are generated once
 * and stored under DATA_DIR.
 * @throws Error with one line per problem
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { given, problems } = withFiles(env);
  const development = given['NODE_ENV'] === 'development' || given['NODE_ENV'] === 'test';
  const secrets = development ? developmentSecrets(given['DATA_DIR'] ?? '.data') : {};
  const parsed = Settings.safeParse({ ...secrets, ...given }, { error: describeIssue });
  if (parsed.success) {
    const { data } = parsed;
    const model = modelProblems(data, !development);
    problems.push(...temporalTlsProblems(data), ...fileStoreProblems(data), ...model, ...receiptKeyProblems(data));
  } else problems.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  if (!development) problems.push(...productionProblems(given));
  if (!parsed.success || problems.length > 0)
    throw new Error(`Invalid configuration:\n${problems.map((line) => `  ${withCommand(line)}`).join('\n')}`);
  return parsed.data;
}

/** Returns true except in production. */
export const isDevelopment = (config: Config): boolean => config.NODE_ENV !== 'production';

/** Returns the time in ms between the signal to stop and the end of new requests: a load balancer looks at `/readyz` meanwhile. */
export const shutdownDelayMs = (config: Config): number =>
  1_000 * (config.SHUTDOWN_DELAY_SECONDS ?? (isDevelopment(config) ? 0 : 5));

/** Returns an absolute URL of the web app, for emails. */
export const webAddress = ({ BASE_URL, PORT }: Config, path: `/${string}`): string =>
  new URL(path, BASE_URL ?? `http://localhost:${PORT}`).href;

/** Required proof for binding a repository: push permission in production, a team role elsewhere. */
export const bindingProof = (config: Config): 'verified' | 'open' =>
  config.FORGE_BINDING ?? (isDevelopment(config) ? 'open' : 'verified');

/** Receivers of events from unbound repositories: all teams in development, none in production. */
export const unboundReach = (config: Config): 'all' | 'none' => config.FORGE_UNBOUND ?? (isDevelopment(config) ? 'all' : 'none');

import { appendFileSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { canonicalJson } from '../canonical.js';
import { findTeam } from './account.js';
import type { Api, ChangeRequest } from './api.js';
import { choice, type Command, duration, flag, type Given, integer, text, texts, usageOf } from './args.js';
import { EXIT, Failure } from './exit.js';
import { type BindOptions, look, type Look } from './run/bind.js';
import { openService } from './service.js';
import { createScreen, formatSize, print, printable, printNote, readStdin, type Screen } from './terminal.js';

export const ASK_OPTIONS = {
  team: { type: 'string' },
  title: { type: 'string' },
  reason: { type: 'string' },
  role: { type: 'string' },
  approvals: { type: 'string' },
  'allow-self': { type: 'boolean' },
  expires: { type: 'string' },
  'use-within': { type: 'string' },
  context: { type: 'string', multiple: true },
  target: { type: 'string' },
  risk: { type: 'string' },
  summary: { type: 'string' },
} as const satisfies Command['options'];

export const BIND_OPTIONS = {
  'no-auto-bind': { type: 'boolean' },
  bind: { type: 'string', multiple: true },
  env: { type: 'string', multiple: true },
  'show-env': { type: 'string', multiple: true },
  'clean-env': { type: 'boolean' },
} as const satisfies Command['options'];

export const ASK_HELP = `Request:
  --team TEAM           id or name of the team; not needed if you are in one only
  --title TEXT          what it is about; by default the command
  --reason TEXT         why
  --role ROLE           who has to approve at least: member, manager or admin. The rules of the team may require more
  --approvals N         how many people, 1 to 5
  --allow-self          you may approve it yourself, signed in, where the rules of the team allow it
  --expires DURATION    time to decide, 1m to 30d; 24h by default
  --use-within DURATION time from the approval to the start, 30s to 24h; 15m by default
  --context NAME=VALUE  a claim of yours that approvers see, such as a commit. GitHub Actions adds its own
  --target TEXT         where it happens; by default user@host. Needed where another machine runs it
  --risk RISK           your estimate: low, medium or high
  --summary TEXT        what it does, in your words`;

export const BIND_HELP = `Bound to the approval are the arguments, the folder, the program by its path and SHA-256, and:
  --no-auto-bind        not the files that arguments name, also right of =
  --bind PATH           a file, or a folder with all in it (2,000 files, 256 MB)
  --bind -              standard input: read now, given to the command. Otherwise the command gets the terminal or nothing
  --env NAME            a variable, whose value stays hidden
  --show-env NAME       a variable with its value, for all who may read the request
  --clean-env           pass on only PATH, HOME and the like, and the variables named here`;

const DAY = 86_400;

/** Returns the pairs of `--context`. @throws {Failure} one has no = */
function readContext(given: Given): Record<string, string> {
  const pairs = texts(given, 'context').map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw new Failure('usage', `--context is NAME=VALUE, not ${pair}`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return { ...actionsContext(), ...Object.fromEntries(pairs) };
}

/** What GitHub Actions says about the job. They are claims: who may change the workflow may change them. */
function actionsContext(): Record<string, string> {
  const { env } = process;
  if (env['GITHUB_ACTIONS'] !== 'true') return {};
  const pairs = {
    repository: env['GITHUB_REPOSITORY'],
    ref: env['GITHUB_REF_NAME'],
    commit: env['GITHUB_SHA'],
    workflow: env['GITHUB_WORKFLOW'],
    actor: env['GITHUB_ACTOR'],
    run: `${env['GITHUB_SERVER_URL']}/${env['GITHUB_REPOSITORY']}/actions/runs/${env['GITHUB_RUN_ID']}`,
  };
  return Object.fromEntries(Object.entries(pairs).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** What the service gets beside the operation. @throws {Failure} an option has a wrong value */
export function readFields(given: Given, defaultTitle: string): Record<string, unknown> {
  const context = readContext(given);
  const optional = {
    reason: text(given, 'reason'),
    expires_in_seconds: duration(given, 'expires', 60, 30 * DAY),
    use_within_seconds: duration(given, 'use-within', 30, DAY),
    context: Object.keys(context).length > 0 ? context : undefined,
  };
  const requirement = {
    role: choice(given, 'role', ['member', 'manager', 'admin']),
    approvals: integer(given, 'approvals', 1, 5),
    allow_self: flag(given, 'allow-self') || undefined,
  };
  return { source: 'cli', title: text(given, 'title') ?? defaultTitle, requirement, ...optional };
}

export const readClaims = (given: Given): object => ({
  ...(text(given, 'summary') !== undefined && { summary: text(given, 'summary') }),
  ...(text(given, 'risk') !== undefined && { risk: choice(given, 'risk', ['low', 'medium', 'high']) }),
});

const MAX_TITLE = 200;
const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);
/** Returns a command as a user would type it, in one line that fits a title. */
export function describeCommand(argv: readonly string[]): string {
  const line = printable(argv.map(quote).join(' '));
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE - 1)}…`;
}

/** @throws {Failure} standard input is bound and there is none */
export async function readBindOptions(given: Given): Promise<BindOptions> {
  const paths = texts(given, 'bind');
  return {
    argv: given.command ?? [],
    bindsArguments: !flag(given, 'no-auto-bind'),
    paths: paths.filter((path) => path !== '-'),
    stdin: paths.includes('-') ? await readStdin() : undefined,
    hiddenEnv: texts(given, 'env'),
    shownEnv: texts(given, 'show-env'),
    isEnvClean: flag(given, 'clean-env'),
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Returns the operation that a look at a command makes. */
export const shellOperation = (given: Given, { arguments: bound }: Look) => ({
  system: 'shell',
  name: 'exec',
  target: text(given, 'target') ?? `${userName()}@${hostname()}`,
  arguments: bound,
});
export type ShellOperation = ReturnType<typeof shellOperation>;

/** Names what is bound beside the arguments, in a few words. */
export function describeBound(
  { program, files, folders, stdin, env }: ShellOperation['arguments'],
  argv: readonly string[],
): string {
  const base = (path: string) => printable(path.slice(path.lastIndexOf('/') + 1));
  const input = typeof stdin === 'object' ? [`standard input (${formatSize(stdin.size)})`] : [];
  return [
    argv[0] === undefined ? program.path : base(argv[0]),
    ...files.map(({ path, size }) => `${base(path)} (${formatSize(size)})`),
    ...folders.map(({ path, files: count, size }) => `${base(path)}/ (${count} files, ${formatSize(size)})`),
    ...input,
    ...[...Object.keys(env.shown), ...Object.keys(env.hidden)].map((name) => `$${name}`),
  ].join(', ');
}

const escapeCommand = (value: string): string => value.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** In a job of GitHub Actions: a notice with the link, which the page of the run shows, and a line of its summary. */
function announceInActions({ url, title, code }: ChangeRequest): void {
  if (process.env['GITHUB_ACTIONS'] !== 'true') return;
  const says = `${title}: ${url}${code ? ` (code ${code})` : ''}`;
  printNote(`::notice title=Waiting for approval::${escapeCommand(says)}\n`);
  const summary = process.env['GITHUB_STEP_SUMMARY'];
  if (!summary) return;
  const escaped = printable(title).replace(/[\\`*_{}[\]<>()#+!|~-]/g, String.raw`\$&`);
  try {
    appendFileSync(summary, `Waiting for approval: [${escaped}](${url})${code ? `, code \`${code}\`` : ''}\n`);
  } catch {
    // The notice has the link as well.
  }
}

/** Says where people decide. */
export function announce(screen: Screen, request: ChangeRequest, bound: string): void {
  const { request_id, url, code, request_hash, expires_at } = request;
  const event = { event: 'asked', request_id, url, code, request_hash, expires_at };
  screen.say(`asked ${url}${code ? `  code ${code}` : ''}${bound ? `  bound: ${bound}` : ''}`, event);
  // A program that reads lines of JSON has the link from the event.
  if (!screen.isJson) announceInActions(request);
}

/** Reads JSON as an option gives it: text, `@FILE` or `-`. Returns the text, whose numbers the service judges. @throws {Failure} it is no JSON object */
async function readJson(value: string): Promise<string> {
  const content =
    value === '-' ? (await readStdin()).toString('utf8') : value.startsWith('@') ? readFileSync(value.slice(1), 'utf8') : value;
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    throw new Failure(
      'usage',
      `--arguments is no JSON: ${(error as Error).message}`,
      'Write it as text, as @FILE, or - for standard input.',
    );
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Failure('usage', '--arguments is a JSON object');
  return content;
}

/** Returns the operation of the options as JSON text, with a title for it. @throws {Failure} an option is missing */
async function readOperation(given: Given): Promise<{ operations: string; title: string; bound: string }> {
  const [system, name, target] = [text(given, 'system'), text(given, 'name'), text(given, 'target')];
  if (system === undefined || name === undefined)
    throw new Failure(
      'usage',
      'either a command after --, or --system and --name, say what is asked for',
      ...usageOf('ask', SYNOPSIS),
    );
  const rest = JSON.stringify({ system, name, target: target ?? null, ...readClaims(given) });
  const args = await readJson(text(given, 'arguments') ?? '{}');
  const title = `${system}: ${name}${target === undefined ? '' : ` ${target}`}`.slice(0, MAX_TITLE);
  return { operations: `[${rest.slice(0, -1)},"arguments":${args}}]`, title, bound: '' };
}

/** Looks at the command and returns its operation as JSON text. @throws {Failure} a variable could not be compared later */
async function readCommand(given: Given): Promise<{ operations: string; title: string; bound: string }> {
  for (const option of ['system', 'name', 'arguments'])
    if (given.values[option] !== undefined) throw new Failure('usage', `--${option} and a command after -- exclude each other`);
  if (texts(given, 'env').length > 0)
    throw new Failure(
      'usage',
      '--env is compared within one process only',
      '--show-env binds a variable that another process can compare.',
    );
  const seen = await look(await readBindOptions(given));
  await seen.program.handle.close();
  const operation = { ...shellOperation(given, seen), ...readClaims(given) };
  const argv = given.command ?? [];
  return {
    operations: `[${canonicalJson(operation)}]`,
    title: describeCommand(argv),
    bound: describeBound(seen.arguments, argv),
  };
}

/** Creates a request in the team that the options name. @throws {Failure} there is no such team */
export async function createRequest(api: Api, given: Given, fields: object, operations: string): Promise<ChangeRequest> {
  const team_id = findTeam(await api.getMe(), text(given, 'team'));
  return api.create({ team_id, ...fields }, operations);
}

async function run(given: Given): Promise<number> {
  const output = choice(given, 'output', ['id', 'url', 'json']) ?? (flag(given, 'json') ? 'json' : 'id');
  const { operations, title, bound } = given.command ? await readCommand(given) : await readOperation(given);
  const fields = readFields(given, title);
  const screen = createScreen(flag(given, 'json'));
  const api = await openService(given, screen);
  const request = await createRequest(api, given, fields, operations);
  announce(screen, request, bound);
  print(output === 'json' ? JSON.stringify(request) : output === 'url' ? request.url : request.request_id);
  return EXIT.done;
}

const SYNOPSIS =
  '[OPTIONS] -- COMMAND [ARGUMENT…]\n       assent ask [OPTIONS] --system SYSTEM --name NAME [--target TARGET] [--arguments JSON]';

export const askCommand: Command = {
  summary: 'ask for approval without waiting',
  synopsis: SYNOPSIS,
  words: 0,
  takesCommand: true,
  options: {
    ...ASK_OPTIONS,
    ...BIND_OPTIONS,
    system: { type: 'string' },
    name: { type: 'string' },
    arguments: { type: 'string' },
    output: { type: 'string' },
  },
  help: `Creates a request and prints its id. 'assent run --request ID' runs the command later, with the same options that bind;
'assent wait ID' waits for the decision. What is no command is used through the API.

Operation of your own:
  --system SYSTEM       what would do it, such as payments
  --name NAME           what is done, such as refund
  --arguments JSON      with what: a JSON object, @FILE or - for standard input

${ASK_HELP}

${BIND_HELP}

  --output WHAT         print id (default), url or json`,
  run,
};

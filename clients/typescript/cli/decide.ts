import { spawn } from 'node:child_process';
import { connect, connectToDecide, findTeam } from './account.js';
import type { Api, ChangeRequest } from './api.js';
import { choice, type Command, flag, type Given, integer, text } from './args.js';
import { AssentError } from '../errors.js';
import { EXIT, Failure, refusalReason } from './exit.js';
import { openService } from './service.js';
import { ask, confirm, createScreen, formatSpan, hasKeyboard, print, printable, printableLines, printNote } from './terminal.js';
import { describeApprovers, loadNames, type NameOf } from './wait.js';

const MAX_LIST = 100;
const since = (time: string): string => formatSpan(Date.now() - Date.parse(time));

/** Pads columns to their widest cell. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const STATUSES = ['pending', 'approved', 'redeemed', 'rejected', 'cancelled', 'expired', 'stale'] as const;

/** A request is redeemed once its approval is used. */
const STATE_WORDS: Partial<Record<ChangeRequest['status'], string>> = { redeemed: 'used' };

async function listApprovals(given: Given): Promise<number> {
  const api = await openService(given, createScreen(flag(given, 'json')));
  const wanted = text(given, 'team');
  const status = choice(given, 'status', STATUSES);
  const isOwn = flag(given, 'mine');
  const query = {
    limit: integer(given, 'limit', 1, MAX_LIST) ?? 30,
    ...(wanted !== undefined && { team_id: findTeam(await api.getMe(), wanted) }),
    ...(status !== undefined && { status }),
    ...(isOwn ? { mine: true } : status === undefined && { decidable: true }),
  };
  const { requests, next_cursor } = await api.list(query);
  if (flag(given, 'json')) print(JSON.stringify(requests));
  else if (requests.length === 0) printNote(isOwn ? 'You have no requests.\n' : 'No requests are waiting for you.\n');
  else {
    const rows = requests.map(({ request_id, status: state, title, operations, created_at, expires_at }) => {
      const systems = [...new Set(operations.map(({ system }) => system))].join(', ');
      const left =
        state === 'pending' ? `${formatSpan(Date.parse(expires_at) - Date.now())} left` : (STATE_WORDS[state] ?? state);
      return [request_id, printable(systems), printable(title), `asked ${since(created_at)} ago`, left];
    });
    print(table(rows));
    if (next_cursor !== null) printNote(`There are more; --limit shows up to ${MAX_LIST}.\n`);
  }
  return EXIT.done;
}

const field = (name: string, value: string): string => `${name.padEnd(10)}  ${value}`;
const indent = (content: string): string => content.replaceAll(/^/gm, '    ');

function describeState(request: ChangeRequest): string {
  const { status, closed_reason, expires_at, use_until, outcome } = request;
  const left = (time: string) => `${formatSpan(Date.parse(time) - Date.now())} left`;
  if (status === 'pending') return `pending, waits for ${describeApprovers(request)}, ${left(expires_at)}`;
  if (status === 'approved') return `approved, not used yet${use_until ? `, ${left(use_until)}` : ''}`;
  const code = outcome?.exit_code === undefined ? '' : `, exit ${outcome.exit_code}`;
  if (status === 'redeemed') return `used, ${outcome ? `${outcome.status}${code}` : 'no outcome yet'}`;
  return closed_reason ? `${status} (${closed_reason})` : status;
}

/** Returns a request as a card: all that is approved, then what is only claimed. */
function describeRequest(request: ChangeRequest, nameOf: NameOf): string {
  const { request_id, operations, requirement, context, decisions, earlier, request_hash, revision } = request;
  const operationLines = operations.flatMap(({ system, name, target, arguments: args, summary, risk, reversible }) => [
    field('Operation', printable(`${system} · ${name}${target === null ? '' : ` · ${target}`}`)),
    indent(printableLines(JSON.stringify(args, null, 2))),
    ...(summary ? [field('Claim', printable(summary))] : []),
    ...(risk ? [field('Claim', `${risk} risk`)] : []),
    ...(reversible === undefined ? [] : [field('Claim', reversible ? 'reversible' : 'not reversible')]),
  ]);
  const { role, approvals, allow_self, code } = requirement;
  const needs = [`${approvals} of role ${role} or above`, allow_self ? 'the requester too' : '', code ? 'with the code' : ''];
  return [
    field('Request', `${request_id}${revision > 1 ? `, revision ${revision}` : ''}`),
    field('Status', describeState(request)),
    field('Title', printable(request.title)),
    field('Asked by', `${nameOf(request.requested_by)} (${request.source}), ${since(request.created_at)} ago`),
    ...(request.reason ? [field('Reason', printable(request.reason))] : []),
    ...operationLines,
    ...Object.entries(context ?? {}).map(([name, value]) => field('Claim', printable(`${name}: ${value}`))),
    field('Needs', needs.filter((each) => each !== '').join(', ')),
    ...decisions.map(({ user_id, decision, comment }) =>
      field('Decision', `${decision} by ${nameOf(user_id)}${comment ? `: "${printable(comment)}"` : ''}`),
    ),
    ...earlier.map(({ request_id: id, status, at }) => field('Earlier', `the same was ${status} ${since(at)} ago, ${id}`)),
    ...(request.code ? [field('Code', request.code)] : []),
    field('Hash', request_hash),
    field('Page', request.url),
  ].join('\n');
}

async function show(given: Given): Promise<number> {
  const [id = ''] = given.positionals;
  const api = await openService(given, createScreen(flag(given, 'json')));
  const request = await api.get(id);
  if (flag(given, 'json')) print(JSON.stringify(request));
  else print(describeRequest(request, await loadNames(api, request.team_id)));
  return EXIT.done;
}

/** Opens the page in a browser, where there is one. */
function openPage(url: string): void {
  const hasScreen = process.platform === 'darwin' || process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'];
  const program = process.env['BROWSER'] || (process.platform === 'darwin' ? 'open' : 'xdg-open');
  if (!hasScreen && !process.env['BROWSER']) return;
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

/** A token that may not decide. Nothing was decided, so it is no success. */
function openInstead(url: string): Failure {
  openPage(url);
  return new Failure(
    'notLoggedIn',
    'this token may not decide, so nothing was decided',
    `Decide in the browser: ${url}`,
    "'assent login --decide' stores a token that may, for twelve hours.",
  );
}

const isUnable = (error: unknown): boolean =>
  error instanceof AssentError &&
  error.status === 403 &&
  (refusalReason(error) === 'token_may_not_decide' || /required scope: approvals:decide/.test(error.message));

/** Reads a request with whatever token there is. */
const connectToRead = (given: Given): Api => connectToDecide(given) ?? connect(given);

/**
 * Returns the hash that the user decides on: of what was just shown and confirmed, or as given.
 * @throws {Failure} there is no terminal and no hash, the hash is another, or the user declines
 */
async function confirmHash(given: Given, request: ChangeRequest, nameOf: NameOf): Promise<string> {
  const { request_hash } = request;
  const shown = text(given, 'hash');
  if (shown !== undefined) {
    if (shown !== request_hash)
      throw new Failure('changed', 'the request is not what the hash says', "'assent show ID' shows it as it is now.");
    return request_hash;
  }
  if (!hasKeyboard())
    throw new Failure(
      'usage',
      'without a terminal approve what was shown: --hash HASH',
      "'assent show ID' shows the request with its hash.",
    );
  printNote(`${describeRequest(request, nameOf)}\n`);
  if (!(await confirm('Approve exactly this?'))) throw new Failure('undecided', 'nothing was decided');
  return request_hash;
}

async function approve(given: Given): Promise<number> {
  const [id = ''] = given.positionals;
  const comment = text(given, 'comment');
  const api = connectToRead(given);
  const request = await api.get(id);
  const deciding = connectToDecide(given);
  if (!deciding) throw openInstead(request.url);
  const request_hash = await confirmHash(given, request, await loadNames(api, request.team_id));
  let code = text(given, 'code');
  if (code === undefined && request.requirement.code && hasKeyboard()) code = await ask('Code that the requester reads out: ');
  const body = { request_hash, ...(comment !== undefined && { comment }), ...(code !== undefined && { code: code.trim() }) };
  try {
    const { status, approvals_needed: needed } = await deciding.approve(id, body);
    if (flag(given, 'json')) print(JSON.stringify({ request_id: id, status, approvals_needed: needed }));
    else print(needed > 0 ? `approved; ${needed} more ${needed > 1 ? 'approvals are' : 'approval is'} missing` : 'approved');
    return EXIT.done;
  } catch (error) {
    throw isUnable(error) ? openInstead(request.url) : error;
  }
}

async function reject(given: Given): Promise<number> {
  const [id = ''] = given.positionals;
  const comment = text(given, 'comment');
  const request = await connectToRead(given).get(id);
  const deciding = connectToDecide(given);
  if (!deciding) throw openInstead(request.url);
  const body = { request_hash: text(given, 'hash') ?? request.request_hash, ...(comment !== undefined && { comment }) };
  try {
    const rejected = await deciding.reject(id, body);
    print(flag(given, 'json') ? JSON.stringify(rejected) : 'rejected');
    return EXIT.done;
  } catch (error) {
    throw isUnable(error) ? openInstead(request.url) : error;
  }
}

async function cancel(given: Given): Promise<number> {
  const [id = ''] = given.positionals;
  const api = await openService(given, createScreen(flag(given, 'json')));
  const cancelled = await api.cancel(id, text(given, 'comment'));
  print(flag(given, 'json') ? JSON.stringify(cancelled) : 'cancelled');
  return EXIT.done;
}

const COMMENT = { comment: { type: 'string', short: 'm' } } as const;
const HASH = { hash: { type: 'string' } } as const;

export const approvalsCommand: Command = {
  summary: 'list requests that wait for you',
  synopsis: '[--mine] [--status STATUS] [--team TEAM] [--limit N]',
  words: 0,
  options: { mine: { type: 'boolean' }, status: { type: 'string' }, team: { type: 'string' }, limit: { type: 'string' } },
  help: `Lists the requests that wait for your decision, newest first.

  --mine            your own requests instead, in any status
  --status STATUS   all requests in this status: ${STATUSES.join(', ')}
  --team TEAM       id or name of a team
  --limit N         how many, up to ${MAX_LIST}; 30 by default`,
  run: listApprovals,
};
export const showCommand: Command = {
  summary: 'show a request',
  synopsis: 'ID',
  words: 1,
  options: {},
  help: 'Shows all that people approve, and its hash. Characters that cannot be seen are shown by their numbers, such as U+202E.',
  run: show,
};
export const approveCommand: Command = {
  summary: 'approve a request',
  synopsis: 'ID [-m COMMENT] [--hash HASH] [--code CODE]',
  words: 1,
  options: { ...COMMENT, ...HASH, code: { type: 'string' } },
  help: `Shows the request, asks, and approves exactly what was shown. Without a token that may decide it opens the page in the browser.

  -m, --comment TEXT  for the requester and the record
  --hash HASH         do not ask: approve if the request still has this hash, as 'assent show' printed it
  --code CODE         the code that the requester reads out, where a rule of the team asks for it`,
  run: approve,
};
export const rejectCommand: Command = {
  summary: 'reject a request',
  synopsis: 'ID [-m COMMENT]',
  words: 1,
  options: { ...COMMENT, ...HASH },
  help: `Without a token that may decide it opens the page in the browser.

  -m, --comment TEXT  why: the requester reads it
  --hash HASH         reject only if the request still has this hash`,
  run: reject,
};
export const cancelCommand: Command = {
  summary: 'withdraw a request',
  synopsis: 'ID [-m REASON]',
  words: 1,
  options: COMMENT,
  help: `Withdraws your request, also one that is approved and not used.

  -m, --comment TEXT  why`,
  run: cancel,
};

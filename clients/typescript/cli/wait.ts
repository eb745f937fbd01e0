import { type Api, type ChangeRequest, type Decision, persist } from './api.js';
import { type Command, duration, type Given, flag } from './args.js';
import { describeOutage, EXIT, Failure, isAway } from './exit.js';
import { openService } from './service.js';
import { createScreen, formatClock, print, printable, type Screen } from './terminal.js';

const ROLES: Record<string, string> = { member: 'a member', manager: 'a manager', admin: 'an admin' };
/** Says whose approval is missing: a manager, 2 managers. */
export function describeApprovers({ requirement, approvals_needed: needed }: ChangeRequest): string {
  return needed > 1 ? `${needed} ${requirement.role}s` : (ROLES[requirement.role] ?? requirement.role);
}

/** Names of users, as far as this token may read them. */
export type NameOf = (userId: string) => string;
export async function loadNames(api: Api, teamId: string): Promise<NameOf> {
  const names = await api.listNames(teamId);
  return (userId) => printable(names.get(userId) ?? `user ${userId}`);
}

const quoteComment = (comment: string | null): string => (comment ? `: "${printable(comment)}"` : '');

/** Prints each decision once. */
export class DecisionLog {
  readonly #printed = new Set<string>();

  constructor(
    private readonly screen: Screen,
    private readonly nameOf: NameOf,
  ) {}

  print(request: ChangeRequest): void {
    const current = request.decisions.filter(({ revision }) => revision === request.revision);
    for (const [at, decision] of current.entries()) {
      const key = `${decision.revision} ${decision.user_id} ${decision.decision}`;
      if (!this.#printed.has(key)) this.#printOne(request, decision, at + 1);
      this.#printed.add(key);
    }
  }

  #printOne({ request_id, requirement }: ChangeRequest, { user_id, decision, comment, at }: Decision, count: number): void {
    const of = decision === 'approved' ? ` (${count} of ${requirement.approvals})` : '';
    this.screen.say(`${decision} by ${this.nameOf(user_id)}${of}${quoteComment(comment)}`, {
      event: decision,
      request_id,
      user_id,
      comment,
      decided_at: at,
    });
  }
}

const CANCELLED: Record<string, string> = {
  requester: 'by its requester',
  manager: 'by a manager',
  approver: 'by one of its approvers',
  source_gone: 'because its requester lost the token or the role',
  changed: 'because what it was about has changed',
};
const isUseWindow = ({ closed_reason: reason }: ChangeRequest): boolean => reason === 'use_window';

/** Returns the failure that an ended request means to its user; undefined while it may still be used. */
export function failureOf(request: ChangeRequest): Failure | undefined {
  const { status, closed_reason: reason } = request;
  switch (status) {
    case 'rejected':
      return new Failure(
        'rejected',
        reason === 'code' ? 'the request was rejected, after five wrong codes' : 'the request was rejected',
      );
    case 'cancelled':
      return new Failure('rejected', `the request was cancelled ${CANCELLED[reason ?? ''] ?? ''}`.trimEnd());
    case 'expired':
      return new Failure(
        'undecided',
        isUseWindow(request) ? 'the approval was not used in time' : 'the request expired without a decision',
        isUseWindow(request) ? '--use-within gives more time.' : '--expires gives more time.',
      );
    case 'stale':
      return new Failure('changed', 'what the request was about has changed');
    case 'redeemed':
      return new Failure('undecided', 'the request was used before');
    default:
      return undefined;
  }
}

export interface WaitOptions {
  screen: Screen;
  log: DecisionLog;
  signal?: AbortSignal;
  /** Ends the waiting before the request does, ms since 1970. */
  until?: number;
  /** What a Ctrl-C does. */
  onInterrupt: string;
}

/** Time for an answer that is under way when the request expires, ms. */
const GRACE_MS = 10_000;

/**
 * Waits until the request is no longer pending, through any outage.
 * @throws {Failure} the service was away until the request had expired, or `until` is over
 * @throws {Interrupted} by a signal
 */
export async function waitForDecision(api: Api, first: ChangeRequest, options: WaitOptions): Promise<ChangeRequest> {
  if (first.status !== 'pending') return first;
  const { screen, log, signal, until = Infinity, onInterrupt } = options;
  const started = Date.now();
  const { request_id } = first;
  let [request, outage]: [ChangeRequest, unknown] = [first, undefined];
  const expires = () => api.toLocal(request.expires_at);
  const text = () => {
    const clock = `${formatClock(Date.now() - started)} · ${formatClock(Math.min(until, expires()) - Date.now())} left`;
    const away = outage === undefined ? '' : ` · the service is away (${describeOutage(outage)})`;
    return `waiting for ${describeApprovers(request)} · ${clock}${away} · ${onInterrupt}`;
  };
  const event = () => ({
    event: 'waiting',
    request_id,
    role: request.requirement.role,
    approvals_needed: request.approvals_needed,
  });
  const stop = screen.wait(text, event);
  const onAway = (error: unknown) => {
    outage = error;
    screen.say(`the service is away (${describeOutage(error)}), still waiting`, { event: 'away', request_id });
  };
  try {
    while (request.status === 'pending') {
      if (Date.now() >= until) throw new Failure('undecided', 'no decision in time', `It still waits: ${request.url}`);
      const wait = { until: Math.min(until, expires() + GRACE_MS), onAway, ...(signal ? { signal } : {}) };
      const next = await persist(() => api.poll(request_id, request.seq, until - Date.now(), signal), wait);
      if (outage !== undefined) screen.say('the service is back', { event: 'back', request_id });
      outage = undefined;
      if (next.seq !== request.seq) log.print(next);
      request = next;
    }
    return request;
  } catch (error) {
    if (isAway(error)) throw new Failure('away', `the service was away until the end of the wait: ${describeOutage(error)}`);
    throw error;
  } finally {
    stop();
  }
}

const MAX_WAIT_SECONDS = 30 * 86_400;

async function run(given: Given): Promise<number> {
  const [id = ''] = given.positionals;
  const seconds = duration(given, 'timeout', 1, MAX_WAIT_SECONDS);
  const screen = createScreen(flag(given, 'json'));
  const api = await openService(given, screen);
  const first = await api.get(id);
  const log = new DecisionLog(screen, await loadNames(api, first.team_id));
  log.print(first);
  const until = seconds === undefined ? {} : { until: Date.now() + seconds * 1_000 };
  const request = await waitForDecision(api, first, { screen, log, onInterrupt: 'Ctrl-C stops waiting only', ...until });
  if (screen.isJson) print(JSON.stringify(request));
  const failure = request.status === 'redeemed' ? undefined : failureOf(request);
  if (failure) throw failure;
  screen.say(`the request is ${request.status}`, { event: 'decided', request_id: request.request_id, status: request.status });
  return EXIT.done;
}

export const waitCommand: Command = {
  summary: 'wait until a request is decided',
  synopsis: 'ID [--timeout DURATION]',
  words: 1,
  options: { timeout: { type: 'string' } },
  help: `Waits until people have decided the request, or it has expired. An outage of the service does not end the wait.
Ctrl-C ends the wait and leaves the request as it is.

  --timeout DURATION  stop waiting after this time, such as 30m
Exit status: 0 approved or used, 77 rejected or cancelled, 75 expired or timed out, 69 the service was away to the end.`,
  run,
};

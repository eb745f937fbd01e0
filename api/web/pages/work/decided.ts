import { z } from 'zod';
import { type DecidedEntry, listDecided } from '../../../approvals/list-decided.js';
import { DECISION_KINDS } from '../../../approvals/schema.js';
import { describeTails } from '../../../automation/runs/staging/describe-gates.js';
import type { User } from '../../../identity/auth/schema.js';
import type { ActionLine } from '../../../gate/staging/schema.js';
import type { Context } from '../../../platform/context.js';
import { plainText } from '../../../platform/plain-text.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { zoneNamed } from '../../../platform/time-zones.js';
import { page, type Page, requireUser, type View } from '../../page.js';
import { createFormatter } from '../../wording/formatter.js';
import { dayRange } from '../../wording/day-range.js';
import { mapTeamNames, namesIn } from '../../wording/names.js';
import { numbersIn } from '../agent/plan-lines.js';

const PATH = '/app/approvals/decided';
const PAGE_SIZE = 50;

/** Filters and the place in the list; an invalid one is none. */
const Filter = z.object({
  team: z.uuid().optional().catch(undefined),
  person: z.uuid().optional().catch(undefined),
  kind: z.enum(DECISION_KINDS).optional().catch(undefined),
  until: z.iso.date().optional().catch(undefined),
  after: z.uuid().optional().catch(undefined),
});
type Filter = z.output<typeof Filter>;

/** Address of the page with these filters. */
function buildAddress(filter: Filter): string {
  const given = Object.entries(filter).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  return query === '' ? PATH : `${PATH}?${query}`;
}

const WITHDRAWN: Readonly<Record<string, string>> = { stale: 'Out of date', superseded: 'Replaced' };
/** What was decided, in a word. */
const nameState = ({ state, status, closed_reason }: DecidedEntry): string =>
  state === 'cancelled'
    ? (WITHDRAWN[status] ?? WITHDRAWN[closed_reason ?? ''] ?? 'Withdrawn')
    : { approved: 'Approved', rejected: 'Rejected', expired: 'Expired' }[state];

const OF_RUN: Readonly<Record<string, string>> = {
  queued: 'The run goes on',
  running: 'The run goes on',
  paused: 'The run waits at a gate',
  succeeded: 'The run succeeded',
  failed: 'The run failed',
  skipped: 'The run ended without acting',
  expired: 'A later gate expired',
  cancelled: 'The run was cancelled',
};
const OF_REQUEST: Readonly<Record<string, string>> = { approved: 'Not used yet', redeemed: 'Used', expired: 'Never used' };
const OUTCOMES: Readonly<Record<string, string>> = {
  succeeded: ' and succeeded',
  failed: ', but failed',
  unknown: ', with no outcome reported',
};

/** What came of a yes, in words. */
function nameOutcome({ kind, state, status, outcome, failure }: DecidedEntry): string | null {
  if (state !== 'approved' || kind === 'plan') return null;
  if (kind === 'gate')
    return failure ? `${OF_RUN['failed']}: ${withVisibleNames(plainText(failure)).replace(/\.$/, '')}` : (OF_RUN[status] ?? null);
  return `${OF_REQUEST[status] ?? 'Withdrawn before its use'}${OUTCOMES[outcome ?? ''] ?? ''}`;
}

/** Returns what the gates of a page did, by their place in the list. */
async function readLines(ctx: Context, entries: readonly DecidedEntry[]): Promise<Map<string, ActionLine[]>> {
  const gates = entries.flatMap(({ decision_id, id, tail }) => (tail === null ? [] : [{ decision_id, run_id: id, ...tail }]));
  const lines = await describeTails(ctx, gates);
  return new Map(gates.flatMap(({ decision_id }, at) => (lines[at] ? [[decision_id, lines[at]]] : [])));
}

async function decidedView(ctx: Context, me: User, filter: Filter): Promise<View> {
  const { team, person, kind, until, after } = filter;
  const timeZone = zoneNamed(createFormatter(me).timeZone) ?? 'UTC';
  const { entries, next } = await listDecided(ctx, {
    limit: PAGE_SIZE,
    kinds: kind === undefined ? DECISION_KINDS : [kind],
    ...(team !== undefined && { team_id: team }),
    ...(person !== undefined && { decided_by: person }),
    ...(until !== undefined && { to: dayRange(until, timeZone).endsAt }),
    ...(after !== undefined && { before: after }),
  });
  const [lines, names] = await Promise.all([readLines(ctx, entries), namesIn(ctx, me, me.teams)]);
  const data = {
    entries: entries.map((entry) => ({
      ...entry,
      lines: lines.get(entry.decision_id),
      said: nameState(entry),
      cameOf: nameOutcome(entry),
      href: new URL(entry.url).pathname,
    })),
    numbers: await numbersIn(ctx, [...lines.values()].flat()),
    names,
    filter,
    teams: me.teams,
    teamNames: mapTeamNames(me),
    hasFilter: [team, person, kind, until].some((value) => value !== undefined),
    pages: {
      first: after === undefined ? undefined : buildAddress({ ...filter, after: undefined }),
      next: next === undefined ? undefined : buildAddress({ ...filter, after: next }),
    },
  };
  return { view: 'work/decided', title: 'Decided', data };
}

export const decidedPages: Page[] = [
  page({
    method: 'get',
    path: PATH,
    access: 'automation.list',
    query: Filter,
    handle: ({ ctx, me, query }) => decidedView(ctx, requireUser({ me }), query),
  }),
];

import { z } from 'zod';
import { listWaiting } from '../../../approvals/list-decisions.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { type Approval, listApprovalsOfRuns } from '../../../automation/runs/approvals/list-approvals.js';
import type { View } from '../../page.js';
import type { ShownLine } from '../agent/plan-lines.js';
import { type Entry, listIds, readEntries } from './decision-entries.js';
import { readApplied } from './plan-queue.js';

const PAGE_SIZE = 50;
/** Gates of one automation, and plans of the user's sessions, above which they fold into one group. */
const MAX_ALIKE = 5;
/** Expired gates that the page offers to ask for again. */
const EXPIRED = 20;

/** Filters and the place in the list; an invalid one is none. */
export const QueueFilter = z.object({
  team: z.uuid().optional().catch(undefined),
  kind: z.enum(['gate', 'plan', 'request']).optional().catch(undefined),
  risk: z.enum(['low', 'medium', 'high']).optional().catch(undefined),
  after: z.uuid().optional().catch(undefined),
  /** When the page was opened, ms: what was asked for later is announced. */
  since: z.coerce.number().int().min(0).optional().catch(undefined),
  live: z.unknown().optional(),
});
type Filter = z.output<typeof QueueFilter>;

/** Address of the queue with these filters. */
function buildAddress(filter: Filter): string {
  const given = (['team', 'kind', 'risk', 'after'] as const).flatMap((name): [string, string][] =>
    filter[name] === undefined ? [] : [[name, filter[name]]],
  );
  const query = new URLSearchParams(given).toString();
  return query === '' ? '/app/approvals' : `/app/approvals?${query}`;
}

const buildQuery = ({ team, kind, after }: Filter, state: 'pending' | 'expired', limit: number) => ({
  limit,
  state,
  ...(team !== undefined && { team_id: team }),
  ...(kind !== undefined && { kind }),
  ...(after !== undefined && state === 'pending' && { before: after }),
});

const findHighestRisk = (lines: readonly ShownLine[]): 'low' | 'medium' | 'high' =>
  (['high', 'medium'] as const).find((risk) => lines.some((line) => line.risk === risk)) ?? 'low';

/** Puts what alike gates have in common where the first of them stands. */
function grouped(entries: readonly Entry[]): { title: string | null; entries: Entry[] }[] {
  const sizes = new Map<string, number>();
  for (const { group } of entries) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const groups = new Map<string, { title: string | null; entries: Entry[] }>();
  for (const entry of entries) {
    const isMany = (sizes.get(entry.group) ?? 0) > MAX_ALIKE;
    const key = isMany ? entry.group : entry.id;
    const group = groups.get(key) ?? { title: isMany ? (entry.gate?.automation_name ?? null) : null, entries: [] };
    group.entries.push(entry);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Gates that nobody decided in time, each with what it was about. */
async function readExpired(ctx: Context, filter: Filter): Promise<Approval[]> {
  if (filter.after !== undefined || (filter.kind ?? 'gate') !== 'gate') return [];
  const { rows } = await listWaiting(ctx, buildQuery({ ...filter, kind: 'gate' }, 'expired', EXPIRED));
  return listApprovalsOfRuns(ctx, listIds(rows, 'gate'));
}

/**
 * The queue: what the user may decide, then the plans of their own conversations, then what waits for others, each nearest deadline first. Nothing moves while it is open: a page that looks
 * for news only counts what was asked for since.
 */
export async function queueView(ctx: Context, me: User, filter: Filter): Promise<View> {
  const [{ rows, next }, expired, recent] = await Promise.all([
    listWaiting(ctx, buildQuery(filter, 'pending', PAGE_SIZE)),
    filter.live === undefined ? readExpired(ctx, filter) : [],
    readApplied(ctx),
  ]);
  const { entries, ...shown } = await readEntries(ctx, me, rows, recent);
  const wanted = entries.filter(({ lines }) => filter.risk === undefined || (lines && findHighestRisk(lines) === filter.risk));
  const since = filter.since ?? Date.now();
  const data = {
    ...shown,
    mine: grouped(wanted.filter(({ isMine, card }) => isMine && !card?.isOfChat)),
    // What one asked the agent for oneself waits in its session too: it must not stand before what others wait for.
    ofChats: wanted.filter(({ isMine, card }) => isMine && card?.isOfChat),
    maxAlike: MAX_ALIKE,
    others: grouped(wanted.filter(({ isMine }) => !isMine)),
    ticks: wanted.filter(({ tick }) => tick !== undefined).length,
    news: wanted.filter(({ requestedAt }) => Date.parse(requestedAt) > since).length,
    shownIds: rows.map(({ id }) => id),
    expired,
    filter,
    since,
    teams: me.teams,
    hasFilter: filter.team !== undefined || filter.kind !== undefined || filter.risk !== undefined,
    pages: {
      address: buildAddress(filter),
      first: filter.after === undefined ? undefined : buildAddress({ ...filter, after: undefined }),
      next: next === undefined ? undefined : buildAddress({ ...filter, after: next }),
    },
  };
  return { view: 'work/approvals', title: 'Approvals', data };
}

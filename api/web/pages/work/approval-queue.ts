import { z } from 'zod';
import { getPlansToDecide } from '../../../agent/plans/waiting/get-plan.js';
import { listWaiting, type Waiting as WaitingId } from '../../../approvals/list-decisions.js';
import { readRequests } from '../../../gate/requests/read/read-request.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { type Approval, listApprovalsOfRuns } from '../../../automation/runs/approvals/list-approvals.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { describeGates } from '../../../automation/runs/staging/describe-gates.js';
import { namesIn, mapTeamNames } from '../../wording/names.js';
import type { View } from '../../page.js';
import { numbersIn, showGates, type ShownLine } from '../agent/plan-lines.js';
import { actionableApprovals } from './actionable-approvals.js';
import { buildRequestCards, type RequestCard } from '../requests/request-card.js';
import { buildCards, type PlanCard, readApplied } from './plan-queue.js';

const PAGE_SIZE = 50;
/** Gates of one automation above which they fold into one group. */
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

/** A gate of a run, a plan of the agent or a change request, with its lines where they fit a list. */
interface Entry {
  kind: WaitingId['kind'];
  id: string;
  gate?: Approval;
  card?: PlanCard;
  request?: RequestCard;
  lines: readonly ShownLine[] | undefined;
  isMine: boolean;
  /** What the box of many decisions sends; undefined where it is decided by itself only. */
  tick: string | undefined;
  requestedAt: string;
  /** Gates of one automation fold together. */
  group: string;
}

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

const listIds = (rows: readonly WaitingId[], kind: WaitingId['kind']): string[] =>
  rows.flatMap((row) => (row.kind === kind ? [row.id] : []));

const findHighestRisk = (lines: readonly ShownLine[]): 'low' | 'medium' | 'high' =>
  (['high', 'medium'] as const).find((risk) => lines.some((line) => line.risk === risk)) ?? 'low';

/** Whether many may be decided at a glance: of low or medium risk, unchanged, by one approval. */
const isPlain = (lines: readonly ShownLine[]): boolean =>
  lines.every(({ risk, changed, refused, isStale }) => risk !== 'high' && changed === null && refused === null && !isStale);

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

function toEntry(request: RequestCard): Entry {
  const { request_id: id, requirement, isMine, lines, isEdited } = request;
  const isOne = requirement.approvals === 1 && !requirement.code && !isEdited && isPlain(lines);
  return {
    kind: 'request',
    id,
    request,
    lines,
    isMine,
    tick: isMine && isOne ? `request ${id} ${request.request_hash}` : undefined,
    requestedAt: request.created_at,
    group: id,
  };
}

/** Reads the entries of a page with everything that their cards show. */
async function readEntries(ctx: Context, me: User, rows: readonly WaitingId[]) {
  const [gates, plans, requests, recent] = await Promise.all([
    listApprovalsOfRuns(ctx, listIds(rows, 'gate')),
    getPlansToDecide(ctx, listIds(rows, 'plan')),
    readRequests(ctx, listIds(rows, 'request')),
    readApplied(ctx),
  ]);
  const runs = gates.map(({ run_id }) => run_id);
  const [names, about, described, shown] = await Promise.all([
    namesIn(ctx, me, [...gates, ...requests]),
    describeRuns(ctx, gates),
    describeGates(ctx, runs).then(showGates),
    buildCards(ctx, me, plans, recent),
  ]);
  const mine = new Set(actionableApprovals(me, gates));
  const ofGate = (gate: Approval): Entry => {
    const what = described[gate.run_id];
    const isOne = what !== undefined && gate.required_approvals === 1 && !gate.creator_left && isPlain(what.lines);
    return {
      kind: 'gate',
      id: gate.run_id,
      gate,
      lines: what?.lines,
      isMine: mine.has(gate),
      tick: isOne && mine.has(gate) ? `gate ${gate.run_id} ${what.staged_hash}` : undefined,
      requestedAt: gate.requested_at,
      group: gate.automation_id,
    };
  };
  const ofPlan = (card: PlanCard): Entry => ({
    kind: 'plan',
    id: card.action_id,
    card,
    lines: card.lines,
    isMine: card.canConfirm,
    tick: card.canConfirm && isPlain(card.lines) ? `plan ${card.action_id} ${card.plan_hash}` : undefined,
    requestedAt: card.created_at,
    group: card.action_id,
  });
  const byId = new Map<string, Entry>([
    ...gates.map((gate) => [gate.run_id, ofGate(gate)] as const),
    ...Object.entries(shown.cards).map(([id, card]) => [id, ofPlan(card)] as const),
    ...buildRequestCards(me.user_id, requests).map((request) => [request.request_id, toEntry(request)] as const),
  ]);
  const entries = rows.flatMap(({ id }) => byId.get(id) ?? []);
  const numbers = await numbersIn(
    ctx,
    entries.flatMap(({ lines }) => lines ?? []),
  );
  return { entries, names, about, described, numbers, applied: shown.applied };
}

/**
 * The queue: what the user may decide, then the plans of their own conversations, then what waits for others, each nearest deadline first. Nothing moves while it is open: a page that looks
 * for news only counts what was asked for since.
 */
export async function queueView(ctx: Context, me: User, filter: Filter): Promise<View> {
  const [{ rows, next }, expired] = await Promise.all([
    listWaiting(ctx, buildQuery(filter, 'pending', PAGE_SIZE)),
    filter.live === undefined ? readExpired(ctx, filter) : [],
  ]);
  const { entries, ...shown } = await readEntries(ctx, me, rows);
  const wanted = entries.filter(({ lines }) => filter.risk === undefined || (lines && findHighestRisk(lines) === filter.risk));
  const since = filter.since ?? Date.now();
  const data = {
    ...shown,
    mine: grouped(wanted.filter(({ isMine, card }) => isMine && !card?.isOfChat)),
    // What one asked the agent for oneself waits in its conversation too: it must not hide what others wait for.
    ofChats: wanted.filter(({ isMine, card }) => isMine && card?.isOfChat),
    others: grouped(wanted.filter(({ isMine }) => !isMine)),
    ticks: wanted.filter(({ tick }) => tick !== undefined).length,
    news: wanted.filter(({ requestedAt }) => Date.parse(requestedAt) > since).length,
    shownIds: rows.map(({ id }) => id),
    expired,
    filter,
    since,
    teams: me.teams,
    teamNames: mapTeamNames(me),
    hasFilter: filter.team !== undefined || filter.kind !== undefined || filter.risk !== undefined,
    pages: {
      address: buildAddress(filter),
      first: filter.after === undefined ? undefined : buildAddress({ ...filter, after: undefined }),
      next: next === undefined ? undefined : buildAddress({ ...filter, after: next }),
    },
  };
  return { view: 'work/approvals', title: 'Approvals', data };
}

import { getPlansToDecide } from '../../../agent/plans/waiting/get-plan.js';
import type { Waiting } from '../../../approvals/list-decisions.js';
import { readRequests } from '../../../gate/requests/read/read-request.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { type Approval, listApprovalsOfRuns } from '../../../automation/runs/approvals/list-approvals.js';
import { describeRuns } from '../../../automation/runs/describe-runs.js';
import { describeGates } from '../../../automation/runs/staging/describe-gates.js';
import { mapTeamNames, namesIn } from '../../wording/names.js';
import { numbersIn, showGates, type ShownLine } from '../agent/plan-lines.js';
import { actionableApprovals } from './actionable-approvals.js';
import { buildRequestCards, type RequestCard } from '../requests/request-card.js';
import { buildCards, type PlanCard } from './plan-queue.js';
import type { PlanRecord } from '../../../agent/plans/decisions/schema.js';

/** A gate of a run, a plan of the agent or a change request, with its lines where they fit a list. */
export interface Entry {
  kind: Waiting['kind'];
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

export const listIds = (rows: readonly Waiting[], kind: Waiting['kind']): string[] =>
  rows.flatMap((row) => (row.kind === kind ? [row.id] : []));

/** Whether many may be decided at a glance: of low or medium risk, unchanged, by one approval. */
const isPlain = (lines: readonly ShownLine[]): boolean =>
  lines.every(({ risk, changed, refused, isStale }) => risk !== 'high' && changed === null && refused === null && !isStale);

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

/** Reads the entries of a page with everything that their cards show. `recent`: applied plans that it offers to take back. */
export async function readEntries(ctx: Context, me: User, rows: readonly Waiting[], recent: readonly PlanRecord[] = []) {
  const [gates, plans, requests] = await Promise.all([
    listApprovalsOfRuns(ctx, listIds(rows, 'gate')),
    getPlansToDecide(ctx, listIds(rows, 'plan')),
    readRequests(ctx, listIds(rows, 'request')),
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
  return { entries, names, about, described, numbers, teamNames: mapTeamNames(me), applied: shown.applied };
}

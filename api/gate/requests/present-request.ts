import type { Seat } from '../../platform/access/access.js';
import { webAddress } from '../../platform/config.js';
import { type Context, requireUser } from '../../platform/context.js';
import { countMissing } from '../requirement/approvers-missing.js';
import { canonicalJson, hashText } from '../staging/canonical.js';
import { readContent } from './content.js';
import { buildCode } from './decide/code.js';
import { mayApproveRequest } from './decide/policy.js';
import type { ChangeRequest, RequestStatus } from './schema.js';

/** A change request as the statements of this folder return it. */
export interface RequestRow extends Record<string, unknown> {
  request_id: string;
  team_id: string;
  requested_by: string;
  token_id: string | null;
  source: ChangeRequest['source'];
  canonical: string;
  request_hash: Buffer;
  operation_hashes: Buffer[];
  revision: number;
  executor: ChangeRequest['executor'];
  self_ids: string[];
  required_role: ChangeRequest['requirement']['role'];
  required_approvals: number;
  allow_self: boolean;
  require_code: boolean;
  status: RequestStatus;
  closed_reason: ChangeRequest['closed_reason'];
  seq: number;
  created_at: Date;
  expires_at: Date;
  use_seconds: number;
  use_until: Date | null;
  redeemed_at: Date | null;
  redeemed_by: string | null;
  ended_at: Date | null;
  outcome: 'succeeded' | 'failed' | 'unknown' | null;
  outcome_at: Date | null;
  outcome_details: object | null;
  signed_in: boolean;
  decisions: { user_id: string; decision: 'approved' | 'rejected'; at: string; comment: string | null; revision: number }[];
  approvals_needed: number;
  /** The caller's role in the team. */
  seat: Seat | null;
}

/** A request with how many people would have to get the role so that enough can approve it; 0 once it waits no more. */
export type CountedRequest = RequestRow & Pick<ChangeRequest, 'approvers_missing'>;

/** Returns requests with how many approvers their team lacks, as the rule of their approval counts people. */
export async function withMissing(ctx: Context, rows: readonly RequestRow[]): Promise<CountedRequest[]> {
  const pending = rows.filter(({ status }) => status === 'pending');
  const missing = await countMissing(
    ctx,
    pending.map(({ team_id, required_role: role, required_approvals: approvals, allow_self, self_ids, requested_by }) => {
      return { team_id, role, approvals, excluded: allow_self ? [] : [requested_by, ...self_ids] };
    }),
  );
  const found = new Map(pending.map(({ request_id }, at) => [request_id, missing[at] ?? 0]));
  return rows.map((row) => ({ ...row, approvers_missing: found.get(row.request_id) ?? 0 }));
}

const toIso = (date: Date | null): string | null => date?.toISOString() ?? null;
/** Longest arguments in a list, UTF-16 units of their text. */
const MAX_LISTED = 500;

const shortened = (operation: ChangeRequest['operations'][number]): ChangeRequest['operations'][number] =>
  canonicalJson(operation.arguments).length <= MAX_LISTED ? operation : { ...operation, arguments: {}, arguments_cut: true };

function presentOutcome({ outcome, outcome_at, outcome_details }: RequestRow): ChangeRequest['outcome'] {
  if (outcome === null || outcome_at === null) return null;
  return { status: outcome, at: outcome_at.toISOString(), ...outcome_details };
}

/** A request for one of the same operations. */
export interface EarlierRequest extends Record<string, unknown> {
  request_id: string;
  status: RequestStatus;
  at: string;
}

/** Returns a request as the API shows it to the caller. `isListed`: long arguments are left out. */
export function presentRequest(
  ctx: Context,
  row: CountedRequest,
  { isListed = false, earlier = [] }: { isListed?: boolean; earlier?: readonly EarlierRequest[] } = {},
): ChangeRequest {
  const { title, reason, operations, editable, context, use_within_seconds } = readContent(row.canonical);
  const isRequester = row.requested_by === requireUser(ctx);
  return {
    request_id: row.request_id,
    team_id: row.team_id,
    requested_by: row.requested_by,
    token_id: row.token_id,
    source: row.source,
    title,
    reason,
    operations: isListed ? operations.map(shortened) : operations,
    operation_hashes: row.operation_hashes.map(hashText),
    request_hash: hashText(row.request_hash),
    revision: row.revision,
    executor: row.executor,
    editable,
    context,
    requirement: {
      role: row.required_role,
      approvals: row.required_approvals,
      allow_self: row.allow_self,
      code: row.require_code,
    },
    approvals_needed: row.approvals_needed,
    decisions: row.decisions.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
    behind: row.self_ids,
    status: row.status,
    closed_reason: row.closed_reason,
    seq: row.seq,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    use_within_seconds,
    use_until: toIso(row.use_until),
    redeemed_at: toIso(row.redeemed_at),
    redeemed_by: row.redeemed_by,
    ended_at: toIso(row.ended_at),
    outcome: presentOutcome(row),
    earlier: earlier.map(({ request_id, status, at }) => ({ request_id, status, at: new Date(at).toISOString() })),
    approvers_missing: row.approvers_missing,
    can_decide: row.status === 'pending' && mayApproveRequest(ctx, row),
    code: isRequester ? buildCode(ctx.config, row.request_id, row.revision) : null,
    url: webAddress(ctx.config, `/app/approvals/request/${row.request_id}`),
  };
}

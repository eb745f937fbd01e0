import { run } from '../../db/statement.js';
import { isAdmitted, rolesFor } from '../platform/access/access.js';
import { webAddress } from '../platform/config.js';
import { type Context, requireUser } from '../platform/context.js';
import type { CutPage } from '../platform/endpoint/endpoint.js';
import { ENTITY_PAGES } from '../platform/changes/entity-pages.js';
import { lowestIdAt } from '../platform/ids.js';
import { decidedStatement } from './decided.sql.js';
import { listReadable, requireScopeToRead } from './list-decisions.js';
import { Decided, type DecisionKind, type ListDecided } from './schema.js';

/** A row of the log with what it was about. */
type Found = Omit<Decided, 'id' | 'requested_at' | 'decided_at' | 'url'> & {
  subject_id: string;
  requested_at: Date;
  decided_at: Date;
  creator_id: string | null;
  staged: string | null;
  staged_hash: string | null;
  failure: string | null;
};
/** `bound`: what is older than this row of the log was not examined. The only row of an empty page has nothing else. */
type Row = { bound: string | null } & (Found | { decision_id: null }) & Record<string, unknown>;

/** A decision that has ended; of a gate with the text that was shown, unless it is too long for a list. */
export interface DecidedEntry extends Decided {
  /** Why its run failed. */
  failure: string | null;
  tail: { place: string; creator_id: string; staged: string; staged_hash: string } | null;
}

/** Above every id of the log. */
const NO_END = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** What a decision of each kind is about. */
const ENTITIES = { gate: 'automation_run', plan: 'agent_plan', request: 'change_request' } as const;

function present({ config }: Context, row: Found): DecidedEntry {
  const { subject_id: id, creator_id, staged, staged_hash, requested_at, decided_at, ...entry } = row;
  const hasText = staged !== null && staged_hash !== null && creator_id !== null;
  return {
    ...entry,
    id,
    requested_at: requested_at.toISOString(),
    decided_at: decided_at.toISOString(),
    url: webAddress(config, `${ENTITY_PAGES[ENTITIES[entry.kind]]}${id}`),
    tail: hasText ? { place: entry.team_id ?? creator_id, creator_id, staged, staged_hash } : null,
  };
}

/**
 * Returns what was decided, newest first, as far as the caller may read today what it was about. A page examines a bounded number of decisions, so that it
 * may hold fewer than `limit`, even none, and still have a next one.
 */
export async function listDecided(
  ctx: Context,
  query: ListDecided & { kinds: readonly DecisionKind[] },
): Promise<{ entries: DecidedEntry[]; next: string | undefined }> {
  const { limit, before, to, team_id = null, kinds, decided_by = null } = query;
  const end = to === undefined ? NO_END : lowestIdAt(Date.parse(to));
  const from = before !== undefined && before < end ? before : end;
  // Who acts as another person reads their runs and plans, but no change request.
  const readable = kinds.filter((kind) => kind !== 'request' || isAdmitted('request.read', ctx.actor));
  const values = [requireUser(ctx), rolesFor('plan.decide'), limit + 1, team_id, readable, from, decided_by];
  const rows = await run<Row>(ctx.db, decidedStatement, values);
  const entries = rows.flatMap((row) => (row.decision_id === null ? [] : present(ctx, row as Found)));
  const shown = entries.slice(0, limit);
  return { entries: shown, next: entries.length > limit ? shown.at(-1)?.decision_id : (rows[0]?.bound ?? undefined) };
}

/**
 * Returns a page of what was decided. A token without the scope of plans or requests is not shown them.
 * @throws PERMISSION_DENIED it asks for them
 */
export async function pageOfDecided(ctx: Context, query: ListDecided): Promise<CutPage> {
  const { kind } = query;
  if (kind !== undefined) requireScopeToRead(ctx, kind);
  const { entries, next } = await listDecided(ctx, { ...query, kinds: kind === undefined ? listReadable(ctx) : [kind] });
  // The fields of the contract only.
  const decided = entries.map((entry) => Decided.parse(entry));
  return { body: JSON.stringify(decided), count: decided.length, more: next !== undefined, last: next };
}

import { defineStatement, run } from '../../../db/statement.js';
import type { ChangeEvent } from '../events/event-types.js';
import type { AuditAction } from './audit-actions.js';
import type { EntityType, Feature, Severity } from './change-kinds.js';
import { type Context, callerJson } from '../context.js';

/** Changed fields of a record: each `{from, to}`, or of a long text `{from_bytes, to_bytes}`. */
export type Differences = Record<string, { from: unknown; to: unknown } | { from_bytes: number; to_bytes: number }>;

/** Description of a change: one audit entry, at most one activity line, at most one event. */
export interface Change {
  team_id: string | null;
  project_id?: string | null;
  feature: Feature;
  action: AuditAction;
  /** LOW by default. */
  severity?: Severity;
  outcome?: 'success' | 'failure' | 'denied';
  entity_type: EntityType;
  entity_id: string | null;
  /** Title of the entity in the activity feed. */
  title?: string;
  /** One sentence for the activity feed; absent = no line there. */
  summary?: string;
  details?: Record<string, unknown>;
  /** Depth of the event, if not that of the actor. */
  depth?: number;
  /** Users behind its event, besides the actor and those behind the actor. */
  causeUserIds?: readonly string[];
  /** Omitted from the outbox when no automation subscribes to its type. */
  event?: ChangeEvent;
}

const statement = defineStatement({ name: 'record_change', text: 'select record_change($1::jsonb, $2::jsonb) as audit_id' });

/**
 * Writes the audit, activity and outbox rows of a change in the change's own transaction, so both commit or neither.
 * @returns the audit entry's id
 */
export async function recordChange(ctx: Context, { depth, causeUserIds = [], ...change }: Change): Promise<string> {
  const own = callerJson(ctx);
  const people = causeUserIds.length > 0 && { cause_user_ids: [...causeUserIds, ...((own['cause_user_ids'] as string[]) ?? [])] };
  const caller = { ...own, ...(depth !== undefined && { depth }), ...people };
  const [row] = await run<{ audit_id: string }>(ctx.db, statement, [JSON.stringify(caller), JSON.stringify(change)]);
  return row?.audit_id as string;
}

const inOrderStatement = defineStatement({
  name: 'record_changes_in_order',
  text: /* sql */ `
    select record_change($1::jsonb, c.change) as audit_id from jsonb_array_elements($2::jsonb) with ordinality as c(change, place)
    order by c.place`,
});

/** Records changes of one caller, in one statement. Returns the ids of the audit entries, in the order of the changes. */
export async function recordChanges(ctx: Context, changes: readonly Omit<Change, 'depth' | 'causeUserIds'>[]): Promise<string[]> {
  const values = [JSON.stringify(callerJson(ctx)), JSON.stringify(changes)];
  return (await run<{ audit_id: string }>(ctx.db, inOrderStatement, values)).map(({ audit_id }) => audit_id);
}

import { run, type Statement } from '../../db/statement.js';
import type { ChangeEvent } from '../outbox/event-types.js';
import type { AuditAction } from './audit-actions.js';
import { type Context, callerJson } from './context.js';

/** What a verb says of the change it made: one audit entry, at most one line of activity, at most one event. */
export interface Change {
  team_id: string | null;
  project_id?: string | null;
  feature: string;
  action: AuditAction;
  /** LOW unless said otherwise (severity rule of the decisions, M). */
  severity?: 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';
  outcome?: 'success' | 'failure' | 'denied';
  entity_type: string;
  entity_id: string | null;
  /** Title of the entity in the activity feed. */
  title?: string;
  /** One sentence for the activity feed; absent = no line there. */
  summary?: string;
  details?: Record<string, unknown>;
  /** Left out of the outbox when nobody subscribes to its type. */
  event?: ChangeEvent;
}

const statement: Statement = { name: 'record_change', text: 'select record_change($1::jsonb, $2::jsonb) as audit_id' };

/**
 * Writes audit, activity and outbox rows of a change, inside the change's own transaction: no trace, no write (R1, G6).
 * @returns the audit entry's id
 */
export async function recordChange(ctx: Context, change: Change): Promise<string> {
  const [row] = await run<{ audit_id: string }>(ctx.db, statement, [JSON.stringify(callerJson(ctx)), JSON.stringify(change)]);
  return row?.audit_id as string;
}

import { run } from '../../../../db/statement.js';
import { type Context, requireUser } from '../../../platform/context.js';
import type { AutomationRecord } from '../../definitions/schema.js';
import { recordedEventsStatement } from './list-recorded-events.sql.js';

/** A run whose event can start another run. */
export interface RecordedEvent extends Record<string, unknown> {
  run_id: string;
  automation_id: string;
  automation_name: string;
  trigger_type: string;
  team_id: string | null;
  queued_at: Date;
  event: Record<string, unknown>;
}

/** Lists runs whose events an automation may be tried with, its own first, then the newest of others with the same trigger. */
export const listRecordedEvents = (
  ctx: Context,
  { team_id, trigger_type, automation_id }: Pick<AutomationRecord, 'team_id' | 'trigger_type' | 'automation_id'>,
  limit: number,
): Promise<RecordedEvent[]> =>
  run<RecordedEvent>(ctx.db, recordedEventsStatement, [requireUser(ctx), team_id, trigger_type, automation_id, limit]);

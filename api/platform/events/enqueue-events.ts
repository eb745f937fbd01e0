import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../context.js';
import type { ChangeEvent } from './event-types.js';

/** $1 = caller (jsonb), $2 = events (jsonb array). */
const statement = defineStatement({
  name: 'enqueue_events',
  text: /* sql */ `
select enqueue_events($1::jsonb, array(
  select make_change(team_id => e.team_id, project_id => e.project_id, feature => null, action => null, entity_type => null, entity_id => null,
    event_type => e.type, event_id => e.event_id, payload => e.payload)
  from jsonb_to_recordset($2::jsonb) as e(team_id uuid, project_id uuid, type text, event_id uuid, payload jsonb)))`,
});

type PlacedEvent = ChangeEvent & { team_id: string | null; project_id: string | null };

/** Enqueues events without an audit entry, in the caller's transaction; drops those without a subscriber. */
export async function enqueueEvents(ctx: Context, events: readonly PlacedEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { actor, correlationId: correlation_id } = ctx;
  const isService = actor.type === 'system';
  const caller = {
    user_id: isService ? null : actor.userId,
    correlation_id,
    cause_user_ids: isService ? actor.causeUserIds : undefined,
  };
  await run(ctx.db, statement, [JSON.stringify(caller), JSON.stringify(events)]);
}

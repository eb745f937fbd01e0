import type { Context } from '../../../platform/context.js';
import { enqueueEvents } from '../../../platform/events/enqueue-events.js';

/** Events about a run for other systems; outbound webhooks will deliver them. */
export type RunEvent =
  | 'automation.run_failed'
  | 'automation.run_paused'
  | 'approval.requested'
  | 'approval.decided'
  | 'approval.expired';

interface Subject {
  run_id: string;
  automation_id: string;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
}

/** Builds the payload of an event about a run: its ids and `object`, never an action's parameters. */
export const runEvent = (
  type: RunEvent,
  { run_id, automation_id, automation_name }: Subject,
  object: Record<string, unknown>,
) => ({
  type,
  payload: {
    entity_type: 'automation_run',
    entity_id: run_id,
    changes: {},
    object: { run_id, automation_id, automation_name, ...object },
  },
});

/** Enqueues an event about a run in the transaction of its change, if no audit entry carries the event already. */
export async function publish(ctx: Context, type: RunEvent, run: Subject, object: Record<string, unknown> = {}): Promise<void> {
  const { payload } = runEvent(type, run, object);
  const { team_id, project_id } = run;
  await enqueueEvents(ctx, [{ type, payload, team_id, project_id }]);
}

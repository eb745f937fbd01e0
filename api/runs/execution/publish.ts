import type { Context } from '../../core/context.js';
import { enqueueEvents } from '../../outbox/enqueue-events.js';

/** What outside systems are told of a run (H3); endpoints for it come with the outbound webhooks. */
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

/** The payload of an event about a run: whom it concerns, and what stands in `object`; no parameter of any action. */
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

/** Puts an event about a run into the outbox, in the transaction of what happened, where no audit entry already carries it. */
export async function publish(ctx: Context, type: RunEvent, run: Subject, object: Record<string, unknown> = {}): Promise<void> {
  const { payload } = runEvent(type, run, object);
  const { team_id, project_id } = run;
  await enqueueEvents(ctx, [{ type, payload, team_id, project_id }]);
}

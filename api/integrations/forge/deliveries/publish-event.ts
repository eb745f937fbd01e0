import { v5 as uuidv5 } from 'uuid';
import { enqueueEvents } from '../../../platform/events/enqueue-events.js';
import type { Context } from '../../../platform/context.js';
import type { Audience } from './find-audience.js';
import type { LinkedTask } from '../links/find-linked-tasks.js';
import type { NormalisedEvent } from '../rules.js';

/** Maximum ids in `linked_task_ids`: conditions read no more entries of a list. */
const MAX_LINKED = 200;

/**
 * Enqueues the event once for each team, with that team's tasks only. Its id is derived from receipt and team, so a delivery
 * applied twice starts nothing twice. Writes no audit entry, because no record changed.
 */
export async function publishEvent(
  ctx: Context,
  receiptId: string,
  { type, payload }: NormalisedEvent,
  { teams }: Audience,
  linked: LinkedTask[],
): Promise<void> {
  const rows = teams.map(({ team_id, project_ids }) => {
    const tasks = linked.filter((task) => task.team_id === team_id);
    const event = {
      ...payload,
      linked_task_ids: tasks.slice(0, MAX_LINKED).map((task) => task.task_id),
      task: tasks[0]?.task ?? null,
      project_ids,
      receipt_id: receiptId,
    };
    return {
      type,
      event_id: uuidv5(team_id, receiptId),
      team_id,
      project_id: project_ids[0] ?? null,
      payload: event,
    };
  });
  await enqueueEvents(ctx, rows);
}

import { v5 as uuidv5 } from 'uuid';
import { enqueueEvents } from '../../outbox/enqueue-events.js';
import type { Context } from '../../core/context.js';
import type { Audience } from './find-audience.js';
import type { LinkedTask } from '../links/find-linked-tasks.js';
import type { NormalisedEvent } from '../rules.js';

/** Most ids in `linked_task_ids`: lists in conditions end there too (F4). */
const MAX_LINKED = 200;

/**
 * Puts the event into the outbox once for every team that hears it, with that team's tasks only. Its id is made of receipt and
 * team, so a delivery that is applied twice arms nothing twice. No audit entry: nothing changed, something was heard.
 * Source: decisions F2, F5.
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

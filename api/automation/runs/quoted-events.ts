import { run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { FACT_FIELDS } from './event-facts.js';
import { quotedStatement } from './quoted-events.sql.js';

type Json = Record<string, unknown>;

/** What a list knows of an event: by what people recognize it. */
const PATHS = [...FACT_FIELDS, 'project_id', 'task.task_id', 'project.project_id', 'url'];

/** Returns the events of runs by run id, as far as people recognize them by it. */
export async function quotedEvents(ctx: Pick<Context, 'db'>, runIds: readonly string[]): Promise<Map<string, Json>> {
  const rows = await run<{ run_id: string; path: string; value: unknown }>(ctx.db, quotedStatement, [runIds, PATHS]);
  const events = new Map<string, Json>();
  for (const { run_id, path, value } of rows) {
    const [first = '', second] = path.split('.');
    const event = events.get(run_id) ?? {};
    event[first] = second === undefined ? value : { [second]: value };
    events.set(run_id, event);
  }
  return events;
}

import { run, type Statement } from '../../db/statement.js';
import { type Context, callerJson } from '../core/context.js';
import { type Change, recordChanges } from '../core/record-change.js';

/** What a deletion, restoration or purge took along: ids of tasks, and of notes, files, whiteboards and docs. */
export interface Members {
  task_ids: string[];
  item_ids: string[];
}

/** Ids in one audit entry: 130 kB at most, as an id has 255 characters at most. */
const IDS_PER_ENTRY = 500;
/** Tasks in one row of the outbox. */
const TASKS_PER_EVENT = 100;
/** Bytes of a task in it; of a larger one the receiver reads the record. */
const MAX_TASK_BYTES = 4_000;

/**
 * $1 = caller (jsonb), $2 = event type, $3 = cascade id, $4 = team id, $5 = task ids, after their change. Writes rows of the outbox, each with
 * a page of tasks, if the team has a subscriber.
 */
const eventsStatement: Statement = {
  name: 'enqueue_cascade',
  text: /* sql */ `
    select enqueue_events($1::jsonb, array(
      select make_change(team_id => $4::uuid, project_id => m.project_id, feature => null, action => null, entity_type => null,
        entity_id => null, event_type => $2::text,
        payload => jsonb_build_object('cascade_id', $3::uuid, 'tasks', jsonb_agg(m.task order by m.place)))
      from (
        select t.project_id, given.place, case when octet_length(j.task::text) <= ${MAX_TASK_BYTES} then j.task::jsonb
          else jsonb_build_object('task_id', t.task_id, 'thin', true) end as task
        from unnest($5::text[]) with ordinality as given(task_id, place) join tasks t using (task_id)
        cross join lateral (select task_json(t) as task offset 0) j
      ) m group by m.project_id, (m.place - 1) / ${TASKS_PER_EVENT}))
    where exists (select from event_subscriptions s where s.owner_id = $4::uuid and $2::text = any(s.event_types))`,
};

/** Enqueues the events of tasks that a deletion or restoration took along, in its transaction. */
export async function enqueueCascade(
  ctx: Context,
  type: 'task.cascade_deleted' | 'task.cascade_restored',
  { cascade_id, team_id, task_ids }: { cascade_id: string | null; team_id: string; task_ids: string[] },
): Promise<void> {
  if (task_ids.length === 0) return;
  await run(ctx.db, eventsStatement, [JSON.stringify(callerJson(ctx)), type, cascade_id, team_id, task_ids]);
}

/** Returns the members in pages; the first also without any. */
function pagesOf({ task_ids, item_ids }: Members): Members[] {
  const count = task_ids.length + item_ids.length;
  return Array.from({ length: Math.max(1, Math.ceil(count / IDS_PER_ENTRY)) }, (_, page) => {
    const [from, to] = [page * IDS_PER_ENTRY, (page + 1) * IDS_PER_ENTRY];
    const before = task_ids.length;
    return {
      task_ids: task_ids.slice(from, to),
      item_ids: item_ids.slice(Math.max(0, from - before), Math.max(0, to - before)),
    };
  });
}

/**
 * Records a change and names what it took along. The entry of the change lists up to 500 ids; entries of the same entity and
 * correlation list the rest (docs/decisions.md#trash-cascades). Returns the first entry's id.
 */
export async function recordCascade(ctx: Context, change: Omit<Change, 'depth'>, members: Members): Promise<string> {
  const { summary: _told, event: _sent, ...entry } = change;
  const { cascade_id, cause } = change.details ?? {};
  const [first, ...rest] = pagesOf(members);
  const pages = rest.length + 1;
  const [auditId] = await recordChanges(ctx, [
    { ...change, details: { ...change.details, ...first, ...(pages > 1 && { page: 1, pages }) } },
    ...rest.map((page, index) => ({
      ...entry,
      details: { cascade_id, ...(cause ? { cause } : {}), ...page, page: index + 2, pages },
    })),
  ]);
  return auditId as string;
}

import { isDeepStrictEqual } from 'node:util';
import { defineStatement, run } from '../../../../db/statement.js';
import { readChanged } from '../../../gate/staging/present-values.js';
import type { Context } from '../../../platform/context.js';
import type { ActivityChanges } from '../../../work/activity-feed/schema.js';
import { evaluateCondition } from '../../language/condition.js';
import { conditionScope } from '../../language/condition-scope.js';
import { explainFalse } from '../../language/explain-condition.js';
import { withTaskNames } from '../dispatch/task-events.js';
import { type JudgedEvent, readSurroundings } from '../surroundings.js';

/** What has changed of the task that started a run, while its gate was open. */
export interface SinceStart {
  changes: ActivityChanges;
  /** Why the condition of the automation does not hold any more, in one line; null if it does, or if it has none. */
  no_longer: string | null;
}

interface Row extends JudgedEvent {
  run_id: string;
  event: Record<string, unknown> & { task: Readonly<Record<string, unknown>> };
  task_id: string;
  version: number;
  condition: string | null;
}

/** Fields that a card names. */
const FIELDS = ['title', 'status', 'stage', 'resolution', 'priority', 'assigned_to', 'due_date'] as const;
/** Gates of a list that are compared: each has an event of up to 64 kB. */
const MAX_COMPARED = 20;

/** $1 = run ids. Selects open gates whose event is about a task that has another version now. A given event may say anything, and is left out. */
const statement = defineStatement({
  name: 'tasks_since_start',
  text: /* sql */ `
    select r.run_id, r.team_id, r.project_id, r.event, t.task_id, t.version, v.condition
    from automation_runs r
    join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    join tasks t on t.task_id = r.event #>> '{task,task_id}'
    where r.run_id = any($1::uuid[]) and r.status = 'paused' and r.trigger_type like 'task.%' and not r.event_truncated
      and r.event #> '{task,version}' <> to_jsonb(t.version)
    limit ${MAX_COMPARED}`,
});

type Value = ActivityChanges[string]['from'];

const compare = (was: Row['event']['task'], is: Readonly<Record<string, unknown>>): ActivityChanges =>
  Object.fromEntries(
    FIELDS.filter((field) => field in was && !isDeepStrictEqual(was[field], is[field])).map((field) => [
      field,
      { from: was[field] as Value, to: (is[field] ?? null) as Value },
    ]),
  );

/** Evaluates the condition with the task as it is now; whatever cannot be evaluated says nothing. */
async function findNoLonger(ctx: Context, row: Row, task: Readonly<Record<string, unknown>>): Promise<string | null> {
  if (row.condition === null) return null;
  const scope = conditionScope({ ...row.event, task }, { ...(await readSurroundings(ctx, row, row.event)), now: new Date() });
  const { matched, error } = evaluateCondition(row.condition, scope);
  return matched || error !== null ? null : explainFalse(row.condition, scope);
}

/**
 * Returns what has changed since runs with open gates started, by run id; nothing of a run about no task, and of a task that the caller may not read.
 * The caller may read the runs.
 */
export async function listSinceStart(ctx: Context, runIds: readonly string[]): Promise<ReadonlyMap<string, SinceStart>> {
  const rows = await run<Row>(ctx.db, statement, [runIds]);
  const targets = rows.map(({ task_id }) => ({ entity_type: 'task', entity_id: task_id, expected_version: 0 }));
  const present = await readChanged(ctx, targets, new Map(rows.map(({ task_id, version }) => [task_id, version])));
  const found = await Promise.all(
    rows.map(async (row): Promise<[string, SinceStart][]> => {
      const now = present.get(row.task_id)?.record;
      if (!now) return [];
      const { task } = await withTaskNames(ctx, { task: { ...row.event.task, ...now } }, String(now['team_id']));
      const since = { changes: compare(row.event.task, task), no_longer: await findNoLonger(ctx, row, task) };
      return Object.keys(since.changes).length > 0 || since.no_longer !== null ? [[row.run_id, since]] : [];
    }),
  );
  return new Map(found.flat());
}

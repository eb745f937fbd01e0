import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { type Facts, factsOf, subjectOf, FACT_FIELDS } from './event-facts.js';

/** An action staged behind a gate: its type, its name, and the change to a task that it declares. */
interface Staged {
  type: string;
  name: string | null;
  /** Status that it sets. */
  status: string | null;
  /** Title of the task that it names by id; null if the event names the task. */
  task: string | null;
}

/** Distinguishes one run from another. */
export interface AboutRun {
  facts: Facts;
  /** The facts in one line; null if there are none. */
  subject: string | null;
  /** User who started the run, or whose change caused it. */
  triggered_by: string | null;
  staged: Staged[];
  /** Milliseconds from its start to its end or to now; null if it has not started. */
  duration_ms: number | null;
  is_finished: boolean;
}

interface Row extends Record<string, unknown> {
  run_id: string;
  triggered_by: string | null;
  telling: Record<string, unknown>;
  staged: Staged[];
  duration_ms: number | null;
  is_finished: boolean;
}

/** $1 = caller id, $2 = run ids. Selects only the display fields of each event, because events can be large. */
const statement: Statement = {
  name: 'about_runs',
  text: /* sql */ `
    select r.run_id, r.triggered_by, r.finished_at is not null as is_finished,
      (extract(epoch from coalesce(r.finished_at, now()) - r.started_at) * 1000)::float8 as duration_ms,
      jsonb_build_object(${FACT_FIELDS.map((name) => `'${name}', r.event -> '${name}'`).join(', ')},
        'task', jsonb_build_object('title', r.event #> '{task,title}'),
        'project', jsonb_build_object('name', r.event #> '{project,name}')) as telling,
      (select coalesce(json_agg(json_build_object('type', a.type, 'name', a.name, 'status', p.params ->> 'status', 'task',
          (select t.title from tasks t where t.task_id = p.params ->> 'task_id' and t.team_id = r.team_id)) order by a.index), '[]')
        from run_actions a cross join lateral (select v.actions -> a.index -> 'params' as params) p
        where a.run_id = r.run_id and a.status = 'staged') as staged
    from automation_runs r
    left join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    left join memberships m on m.team_id = r.team_id and m.user_id = $1
    where r.run_id = any($2::uuid[]) and (m.role is not null or (r.team_id is null and r.creator_id = $1))`,
};

/** Describes the runs of a list by id, for pages that show it. Omits runs that the caller may not read. */
export async function describeRuns(
  ctx: Context,
  things: readonly { run_id: string | null }[],
): Promise<Record<string, AboutRun>> {
  const wanted = [...new Set(things.map(({ run_id }) => run_id))].filter((id) => id !== null);
  if (wanted.length === 0) return {};
  const rows = await run<Row>(ctx.db, statement, [userOf(ctx), wanted]);
  return Object.fromEntries(
    rows.map(({ run_id, telling, ...rest }) => {
      const facts = factsOf(telling);
      return [run_id, { ...rest, facts, subject: subjectOf(facts) }];
    }),
  );
}

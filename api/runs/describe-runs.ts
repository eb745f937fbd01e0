import { run, type Statement } from '../../db/statement.js';
import { type Context, userOf } from '../core/context.js';
import { namesFor, type PlannedAction, planAction } from './planned-actions.js';
import { quotedEvents } from './quoted-events.js';
import { type Facts, factsOf, subjectOf, FACT_FIELDS } from './event-facts.js';

/** Distinguishes one run from another. */
export interface AboutRun {
  facts: Facts;
  /** The facts in one line; null if there are none. */
  subject: string | null;
  /** User who started the run, or whose change caused it. */
  triggered_by: string | null;
  /** The automation acts in this user's name. */
  creator_id: string;
  /** The first actions staged behind its gate. */
  staged: PlannedAction[];
  /** Deadline of its gate; null unless it is paused. */
  gate_expires_at: string | null;
  /** Milliseconds from its start to its end or to now; null if it has not started. */
  duration_ms: number | null;
  is_finished: boolean;
}

interface Row extends Record<string, unknown> {
  run_id: string;
  team_id: string | null;
  creator_id: string;
  triggered_by: string | null;
  telling: Record<string, unknown>;
  staged: { type: string; name: string | null; params: Record<string, unknown> }[];
  gate_expires_at: Date | null;
  duration_ms: number | null;
  is_finished: boolean;
}

/** Staged actions that a list shows for a run; the run's page shows all. */
const MAX_STAGED = 5;

/**
 * $1 = caller id, $2 = run ids. Selects only the display fields of each event and the beginning of each parameter, because both can be
 * large.
 */
const statement: Statement = {
  name: 'about_runs',
  text: /* sql */ `
    select r.run_id, r.team_id, r.creator_id, r.triggered_by, r.finished_at is not null as is_finished,
      case when r.status = 'paused' then r.gate_expires_at end as gate_expires_at,
      (extract(epoch from coalesce(r.finished_at, now()) - r.started_at) * 1000)::float8 as duration_ms,
      jsonb_build_object(${FACT_FIELDS.map((name) => `'${name}', r.event -> '${name}'`).join(', ')},
        'task', jsonb_build_object('title', r.event #> '{task,title}', 'task_id', r.event #> '{task,task_id}'),
        'project', jsonb_build_object('name', r.event #> '{project,name}')) as telling,
      (select coalesce(json_agg(json_build_object('type', a.type, 'name', a.name, 'params', p.params) order by a.index), '[]')
        from (select * from run_actions a where a.run_id = r.run_id and a.status = 'staged' order by a.index limit ${MAX_STAGED}) a
        cross join lateral (
          select coalesce(jsonb_object_agg(e.key, case
            when e.key = 'user_ids' and jsonb_typeof(e.value) = 'array' then jsonb_path_query_array(e.value, '$[0 to 19]')
            when jsonb_typeof(e.value) = 'null' then e.value
            else to_jsonb(left(e.value #>> '{}', 400)) end), '{}') as params
          from (select key, value from jsonb_each(v.actions -> a.index -> 'params') limit 8) e
        ) p) as staged
    from automation_runs r
    left join automation_versions v on v.automation_id = r.automation_id and v.version = r.automation_version
    left join memberships m on m.team_id = r.team_id and m.user_id = $1
    where r.run_id = any($2::uuid[]) and (m.role is not null or (r.team_id is null and r.creator_id = $1))
    union all
    select s.run_id, a.team_id, a.created_by, s.triggered_by, true, null, null, '{}', '[]'
    from skipped_runs s join automations a using (automation_id)
    left join memberships m on m.team_id = a.team_id and m.user_id = $1
    where s.run_id = any($2::uuid[]) and (m.role is not null or (a.team_id is null and a.created_by = $1))`,
};

/** Describes the runs of a list by id, for pages that show it. Omits runs that the caller may not read. */
export async function describeRuns(
  ctx: Context,
  things: readonly { run_id: string | null }[],
): Promise<Record<string, AboutRun>> {
  const wanted = [...new Set(things.map(({ run_id }) => run_id))].filter((id) => id !== null);
  if (wanted.length === 0) return {};
  const rows = await run<Row>(ctx.db, statement, [userOf(ctx), wanted]);
  const [events, names] = await Promise.all([
    quotedEvents(ctx, rows),
    namesFor(
      ctx,
      rows.flatMap(({ team_id: teamId, staged }) => staged.map(({ params }) => ({ teamId, params }))),
    ),
  ]);
  return Object.fromEntries(
    rows.map(({ run_id, team_id: teamId, telling, staged, gate_expires_at, ...rest }) => {
      const facts = factsOf(telling);
      const event = events.get(run_id) ?? telling;
      const planned = staged.map((action) => planAction(action, event, { teamId, names }));
      const shown = { subject: subjectOf(facts), staged: planned, gate_expires_at: gate_expires_at?.toISOString() ?? null };
      return [run_id, { ...rest, facts, ...shown }];
    }),
  );
}

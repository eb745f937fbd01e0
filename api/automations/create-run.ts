import { type Statement, run } from '../../db/statement.js';
import type { Automation } from '../../db/models/automation.js';
import type { AutomationVersion } from '../../db/models/automation-version.js';
import type { Context } from '../core/context.js';
import { fitEvent } from './fit-event.js';
import type { SkipReason } from './rules.js';

/** An automation as far as a run is made from it: its row, or the same columns as JSON. */
export type ArmedAutomation = Pick<
  Automation,
  'automation_id' | 'name' | 'team_id' | 'project_id' | 'created_by' | 'trigger_type' | 'condition' | 'version' | 'actions'
>;

interface NewRun {
  /** Made from the cause, so that the same cause makes one run however often it is told (durability notes, R3). */
  run_id: string;
  automation: ArmedAutomation;
  /** The version that the run is pinned to; the automation's present one when absent. */
  version_row?: Pick<AutomationVersion, 'version' | 'name' | 'actions'>;
  /** As templates and conditions see it: `type` and the payload on one level (F5). */
  event: Readonly<Record<string, unknown>>;
  trigger_type: string;
  depth: number;
  /** The person who set it off: by hand, or by what they did. */
  triggered_by?: string | null;
  retry_of?: string | null;
  is_test?: boolean;
  /** Actions that this run leaves out: a replay of what failed. */
  skip_indexes?: readonly number[];
  /** The run ends before it begins: a row for the record, no workflow (F7). */
  skip_reason?: SkipReason | null;
  condition_error?: string | null;
}

/**
 * One round trip: the run, its actions and the order to start it. $1 the run (jsonb), $2 its actions (jsonb array).
 * The automation is held FOR KEY SHARE: who deletes it takes FOR UPDATE, so no run appears behind a deletion's back.
 */
const statement: Statement = {
  name: 'create_run',
  text: /* sql */ `
with given as (
  select g.* from jsonb_to_record($1::jsonb) as g(run_id uuid, automation_id uuid, automation_version int, automation_name text,
    team_id uuid, project_id uuid, creator_id uuid, trigger_type text, event jsonb, event_truncated boolean, condition_error text,
    is_test boolean, triggered_by uuid, depth int, retry_of uuid, correlation_id uuid, skip_reason text)
), live as (
  select a.automation_id from automations a join given g using (automation_id) where a.deleted_at is null for key share of a
), made as (
  insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id, status,
    skip_reason, trigger_type, event, event_truncated, condition_error, is_test, triggered_by, depth, retry_of, correlation_id,
    finished_at)
  select g.run_id, g.automation_id, g.automation_version, g.automation_name, g.team_id, g.project_id, g.creator_id,
    case when g.skip_reason is null then 'queued' else 'skipped' end, g.skip_reason, g.trigger_type, g.event, g.event_truncated,
    g.condition_error, g.is_test, g.triggered_by, g.depth, g.retry_of, g.correlation_id,
    case when g.skip_reason is not null then now() end
  from given g join live using (automation_id)
  on conflict do nothing returning run_id, skip_reason, correlation_id
), steps as (
  insert into run_actions (run_id, index, type, name, on_failure, status)
  select m.run_id, a.index, a.type, a.name, coalesce(a.on_failure, 'continue'), a.status
  from made m, jsonb_to_recordset($2::jsonb) as a(index int, type text, name text, on_failure text, status text)
), start as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'run.start', m.run_id::text, jsonb_build_object('run_id', m.run_id, 'incarnation', 1), m.correlation_id
  from made m where m.skip_reason is null
)
select run_id from made`,
};

/**
 * Stores a run with its actions and asks the relay to start it, all in the caller's transaction. Returns false, and stores
 * nothing, when the run is there already or the automation has been deleted.
 * Source: decision F7; durability notes, R1 and R3.
 */
export async function createRun(ctx: Context, input: NewRun): Promise<boolean> {
  const { automation, version_row: version = automation, skip_indexes: skipped = [], skip_reason: skipReason = null } = input;
  const { event, truncated } = fitEvent(input.event);
  const record = {
    run_id: input.run_id,
    automation_id: automation.automation_id,
    automation_version: version.version,
    automation_name: version.name,
    team_id: automation.team_id,
    project_id: automation.project_id,
    creator_id: automation.created_by,
    trigger_type: input.trigger_type,
    event,
    event_truncated: truncated,
    condition_error: input.condition_error ?? null,
    is_test: input.is_test ?? false,
    triggered_by: input.triggered_by ?? null,
    depth: input.depth,
    retry_of: input.retry_of ?? null,
    correlation_id: ctx.correlationId,
    skip_reason: skipReason,
  };
  const actions = version.actions.map(({ type, name, on_failure }, index) => {
    const status = skipReason !== null || skipped.includes(index) ? 'skipped' : 'pending';
    return { index, type, name: name ?? null, on_failure, status };
  });
  const rows = await run(ctx.db, statement, [JSON.stringify(record), JSON.stringify(actions)]);
  if (!ctx.db.isTransaction) ctx.ring();
  return rows.length === 1;
}

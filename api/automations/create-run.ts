import { type Statement, run } from '../../db/statement.js';
import type { Automation } from '../../db/models/automation.js';
import type { AutomationVersion } from '../../db/models/automation-version.js';
import type { RunStep } from '../../workflows/contract.js';
import type { Context, Services } from '../core/context.js';
import { type FittedEvent, fitEvent } from './fit-event.js';
import type { SkipReason } from './rules.js';

/** An automation as far as a run is made from it: its row, or the same columns as JSON. */
export type ArmedAutomation = Pick<
  Automation,
  'automation_id' | 'name' | 'team_id' | 'project_id' | 'created_by' | 'trigger_type' | 'condition' | 'version'
>;

export interface NewRun {
  /** Made from the cause, so that the same cause makes one run however often it is told (durability notes, R3). */
  run_id: string;
  automation: ArmedAutomation;
  /** The version that the run is pinned to; the automation's present one when absent. */
  version_row?: Pick<AutomationVersion, 'version' | 'name'>;
  /** As templates and conditions see it: `type` and the payload on one level (F5). */
  event: Readonly<Record<string, unknown>>;
  trigger_type: string;
  depth: number;
  /** The person who set it off: by hand, or by what they did. */
  triggered_by?: string | null;
  /** The failed run that this one replays, and the one that it all goes back to. */
  replay?: { retry_of: string; first_run_id: string };
  is_test?: boolean;
  /** Actions that this run leaves out: a replay of what failed. */
  skip_indexes?: readonly number[];
  /** The run ends before it begins: a row for the record, no workflow (F7). */
  skip_reason?: SkipReason | null;
  condition_error?: string | null;
  correlation_id: string;
  /** The event of the outbox that is its cause. */
  outbox_id?: number | null;
}

/** A run that was made, with the order to start it; a skipped one has none. */
export interface MadeRun extends Record<string, unknown> {
  run_id: string;
  order_id: number | null;
  steps: RunStep[];
}

/**
 * One round trip, and outside a transaction one commit: runs, their actions and the orders to start them, and the events that they
 * answer are taken. $1 the runs (jsonb array), $2 events of the outbox, $3 seconds for which whoever asks hands the orders over
 * itself, null when they are anyone's. An event that somebody else took meanwhile makes no run here.
 * The automations are held FOR SHARE: who deletes one takes FOR NO KEY UPDATE, so no run appears behind a deletion's back.
 */
const statement: Statement = {
  name: 'create_runs',
  text: /* sql */ `
with taken as (
  delete from outbox where outbox_id = any(array(
    select outbox_id from outbox where outbox_id = any($2::bigint[]) order by outbox_id for update skip locked))
  returning outbox_id
), given as (
  select g.* from jsonb_to_recordset($1::jsonb) as g(outbox_id bigint, run_id uuid, automation_id uuid, automation_version int,
    automation_name text, team_id uuid, project_id uuid, creator_id uuid, trigger_type text, event jsonb, event_truncated boolean,
    condition_error text, is_test boolean, triggered_by uuid, depth int, retry_of uuid, first_run_id uuid, correlation_id uuid,
    skip_reason text, skip_indexes int[])
  where g.outbox_id is null or g.outbox_id in (select outbox_id from taken)
), live as (
  select a.automation_id from automations a where a.automation_id in (select automation_id from given) and a.deleted_at is null
  for share
), made as (
  insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id, status,
    skip_reason, trigger_type, event, event_truncated, condition_error, is_test, triggered_by, depth, retry_of, first_run_id,
    correlation_id, finished_at)
  select g.run_id, g.automation_id, g.automation_version, g.automation_name, g.team_id, g.project_id, g.creator_id,
    case when g.skip_reason is null then 'queued' else 'skipped' end, g.skip_reason, g.trigger_type, g.event, g.event_truncated,
    g.condition_error, g.is_test, g.triggered_by, g.depth, g.retry_of, g.first_run_id, g.correlation_id,
    case when g.skip_reason is not null then now() end
  from given g join live using (automation_id)
  on conflict do nothing returning run_id, automation_id, automation_version, skip_reason, correlation_id
), steps as (
  insert into run_actions (run_id, index, type, name, on_failure, status)
  select m.run_id, a.n - 1, a.value->>'type', a.value->>'name', coalesce(a.value->>'on_failure', 'continue'),
    case when m.skip_reason is not null or a.n - 1 = any(g.skip_indexes) then 'skipped' else 'pending' end
  from made m join given g using (run_id)
  join automation_versions v on v.automation_id = m.automation_id and v.version = m.automation_version
  cross join lateral jsonb_array_elements(v.actions) with ordinality as a(value, n)
  returning run_id, index, type, name, status
), orders as (
  insert into outbox (kind, subject, payload, correlation_id, attempts, next_attempt_at)
  select 'run.start', m.run_id::text, jsonb_build_object('run_id', m.run_id, 'incarnation', 1), m.correlation_id,
    case when $3::int is null then 0 else 1 end, now() + make_interval(secs => coalesce($3::int, 0))
  from made m where m.skip_reason is null
  returning outbox_id, subject
)
select m.run_id, o.outbox_id as order_id, coalesce((
  select json_agg(json_build_object('index', s.index, 'type', s.type, 'label', coalesce(s.name, s.type)) order by s.index)
  from steps s where s.run_id = m.run_id and s.status <> 'skipped'), '[]') as steps
from made m left join orders o on o.subject = m.run_id::text`,
};

const recordOf = (input: NewRun, { event, truncated }: FittedEvent) => {
  const { automation, version_row: version = automation } = input;
  return {
    outbox_id: input.outbox_id ?? null,
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
    ...input.replay,
    correlation_id: input.correlation_id,
    skip_reason: input.skip_reason ?? null,
    skip_indexes: input.skip_indexes ?? [],
  };
};

/**
 * Stores runs with their actions and orders to start them, and takes the events that caused them out of the outbox: all of it or
 * nothing. Left out is a run that is there already, one whose event was taken by another relay, and one whose automation has been
 * deleted. `leaseSeconds`: the orders are the caller's for so long, and anyone's when it is null.
 * @returns the runs that were made
 * Source: decision F7; durability notes, R1 and R3.
 */
export function createRuns(
  { db }: Pick<Services, 'db'>,
  runs: readonly NewRun[],
  events: readonly number[],
  leaseSeconds: number | null,
): Promise<MadeRun[]> {
  // A thousand automations may hear one large event: it is fitted once.
  const fitted = new Map([...new Set(runs.map(({ event }) => event))].map((event) => [event, fitEvent(event)]));
  const records = runs.map((each) => recordOf(each, fitted.get(each.event) as FittedEvent));
  return run<MadeRun>(db, statement, [JSON.stringify(records), events, leaseSeconds]);
}

/**
 * Stores one run and asks the relay to start it, in the caller's transaction if there is one. Returns false, and stores nothing,
 * when the run is there already or the automation has been deleted.
 */
export async function createRun(ctx: Context, input: Omit<NewRun, 'correlation_id'>): Promise<boolean> {
  const made = await createRuns(ctx, [{ ...input, correlation_id: ctx.correlationId }], [], null);
  if (!ctx.db.isTransaction) ctx.ring();
  return made.length === 1;
}

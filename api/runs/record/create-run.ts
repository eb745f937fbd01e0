import { type Statement, run } from '../../../db/statement.js';
import type { Automation } from '../../../db/models/automation.js';
import type { AutomationVersion } from '../../../db/models/automation-version.js';
import type { RunStep } from '../../../workflows/contract.js';
import type { Context, Services } from '../../core/context.js';
import { truncateEvent } from './truncate-event.js';
import type { SkipReason } from './rules.js';

export interface NewRun {
  /** Derived from the cause, so that one cause creates one run, however often it is delivered. */
  run_id: string;
  /** The statement reads the owner and the scope from the automation's row. */
  automation: Pick<Automation, 'automation_id' | 'name' | 'version'>;
  /** Version that the run is pinned to; defaults to the automation's current one. */
  version_row?: Pick<AutomationVersion, 'version' | 'name'>;
  /** As templates and conditions see it: `type` beside the payload's fields. */
  event: Readonly<Record<string, unknown>>;
  trigger_type: string;
  depth: number;
  /** User who started the run, or whose change caused it. */
  triggered_by?: string | null;
  /** Other users behind the cause: the run is their own at a gate without self-approval. */
  cause_user_ids?: readonly string[];
  /** The failed run that this one replays, and the first run of the chain. */
  replay?: { retry_of: string; first_run_id: string };
  is_test?: boolean;
  /** Actions that a replay of only the failed actions skips. */
  skip_indexes?: readonly number[];
  /** Ends the run at creation: a row for the record, no workflow. */
  skip_reason?: SkipReason | null;
  condition_error?: string | null;
  correlation_id: string;
}

/** A run to start, with the input of its workflow and the fields that operators see; `outbox_id` is its outbox row. */
export interface RunStart {
  outbox_id: number;
  payload: { run_id: string; incarnation: number };
  correlation_id: string;
  run_id: string;
  automation_id: string;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
  creator_id: string;
  trigger_type: string;
  depth: number;
  is_test: boolean;
  entity_id: string | null;
  steps: RunStep[];
}

/** A run that was inserted; `start` is null for a skipped one. */
interface CreatedRun extends Record<string, unknown> {
  run_id: string;
  start: RunStart | null;
}

/**
 * Creates runs, their actions and their outbox rows in one statement and, outside a transaction, one commit. $1 = runs (jsonb
 * array), $2 = the events they share (jsonb array, indexed by `event_index`), $3 = lease in seconds if the caller dispatches the
 * starts itself, else null. Locks the automations FOR SHARE: a deletion takes FOR NO KEY UPDATE, so no run appears after it.
 */
const statement: Statement = {
  name: 'create_runs',
  text: /* sql */ `
with given as materialized (
  select g.*, $2::jsonb->g.event_index->'event' as event, ($2::jsonb->g.event_index->>'truncated')::boolean as event_truncated
  from jsonb_to_recordset($1::jsonb) as g(event_index int, run_id uuid, automation_id uuid, automation_version int,
    automation_name text, trigger_type text, condition_error text, is_test boolean, triggered_by uuid, depth int, retry_of uuid,
    first_run_id uuid, correlation_id uuid, skip_reason text, skip_indexes int[], cause_user_ids uuid[])
), live as (
  select a.automation_id, a.team_id, a.project_id, a.created_by from automations a
  where a.automation_id in (select automation_id from given) and a.deleted_at is null order by a.automation_id
  for share
), made as (
  insert into automation_runs (run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id, status,
    skip_reason, trigger_type, event, event_truncated, condition_error, is_test, triggered_by, depth, retry_of, first_run_id,
    correlation_id, cause_user_ids, finished_at)
  select g.run_id, g.automation_id, g.automation_version, g.automation_name, a.team_id, a.project_id, a.created_by,
    case when g.skip_reason is null then 'queued' else 'skipped' end, g.skip_reason, g.trigger_type, g.event, g.event_truncated,
    g.condition_error, g.is_test, g.triggered_by, g.depth, g.retry_of, g.first_run_id, g.correlation_id,
    g.cause_user_ids, case when g.skip_reason is not null then now() end
  from given g join live a using (automation_id)
  on conflict do nothing
  returning run_id, automation_id, automation_version, automation_name, team_id, project_id, creator_id, trigger_type, depth, is_test,
    skip_reason, correlation_id
), steps as (
  insert into run_actions (run_id, index, type, name, on_failure, status)
  select m.run_id, a.n - 1, a.value->>'type', a.value->>'name', coalesce(a.value->>'on_failure', 'continue'),
    case when m.skip_reason is not null or a.n - 1 = any(g.skip_indexes) then 'skipped' else 'pending' end
  from made m join given g using (run_id)
  join automation_versions v on v.automation_id = m.automation_id and v.version = m.automation_version
  cross join lateral jsonb_array_elements(v.actions) with ordinality as a(value, n)
  returning run_id, index, type, name, status
), steps_of as (
  select run_id, json_agg(json_build_object('index', index, 'type', type, 'label', coalesce(name, type)) order by index)
    filter (where status <> 'skipped') as steps
  from steps group by run_id
), starts as (
  insert into outbox (kind, subject, payload, correlation_id, attempts, next_attempt_at)
  select 'run.start', m.run_id::text, jsonb_build_object('run_id', m.run_id, 'incarnation', 1), m.correlation_id,
    case when $3::int is null then 0 else 1 end, now() + make_interval(secs => coalesce($3::int, 0))
  from made m where m.skip_reason is null
  returning outbox_id, payload, (payload->>'run_id')::uuid as run_id
)
select m.run_id, case when o.outbox_id is not null then json_build_object('outbox_id', o.outbox_id, 'payload', o.payload,
  'correlation_id', m.correlation_id, 'run_id', m.run_id, 'automation_id', m.automation_id, 'automation_name', m.automation_name,
  'team_id', m.team_id, 'project_id', m.project_id, 'creator_id', m.creator_id, 'trigger_type', m.trigger_type, 'depth', m.depth,
  'is_test', m.is_test, 'steps', coalesce(s.steps, '[]')) end as start
from made m left join starts o using (run_id) left join steps_of s using (run_id)`,
};

const recordOf = (input: NewRun, event_index: number) => {
  const { automation, version_row: version = automation } = input;
  return {
    event_index,
    run_id: input.run_id,
    automation_id: automation.automation_id,
    automation_version: version.version,
    automation_name: version.name,
    trigger_type: input.trigger_type,
    condition_error: input.condition_error ?? null,
    is_test: input.is_test ?? false,
    triggered_by: input.triggered_by ?? null,
    depth: input.depth,
    ...input.replay,
    correlation_id: input.correlation_id,
    skip_reason: input.skip_reason ?? null,
    skip_indexes: input.skip_indexes ?? [],
    cause_user_ids: input.cause_user_ids ?? [],
  };
};

/** Returns the task that a run's event is about, for the search attribute. */
const entityOf = ({ event }: NewRun): string | null => {
  const { task, linked_task_ids } = event as { task?: { task_id?: string } | null; linked_task_ids?: string[] };
  return task?.task_id ?? linked_task_ids?.[0] ?? null;
};

/**
 * Creates runs with their actions and outbox rows atomically. Omits runs that exist already and runs of deleted automations.
 * `leaseSeconds` leases the starts to the caller; null leaves them to any relay.
 * @returns the runs that were inserted
 */
export async function createRuns(
  { db }: Pick<Services, 'db'>,
  runs: readonly NewRun[],
  leaseSeconds: number | null,
): Promise<CreatedRun[]> {
  // Runs of one event share it: it is truncated, sent and parsed once.
  const eventIndexes = new Map([...new Set(runs.map(({ event }) => event))].map((event, index) => [event, index]));
  const records = runs.map((each) => recordOf(each, eventIndexes.get(each.event) as number));
  const events = [...eventIndexes.keys()].map(truncateEvent);
  const created = await run<CreatedRun>(db, statement, [JSON.stringify(records), JSON.stringify(events), leaseSeconds]);
  const causes = new Map(runs.map((each) => [each.run_id, each]));
  for (const { run_id, start } of created) if (start) start.entity_id = entityOf(causes.get(run_id) as NewRun);
  return created;
}

/**
 * Creates one run and its outbox row, in the caller's transaction if there is one. Returns false if the run exists already or the
 * automation is deleted.
 */
export async function createRun(ctx: Context, input: Omit<NewRun, 'correlation_id'>): Promise<boolean> {
  const created = await createRuns(ctx, [{ ...input, correlation_id: ctx.correlationId }], null);
  if (!ctx.db.isTransaction) ctx.notifyRelay();
  return created.length === 1;
}

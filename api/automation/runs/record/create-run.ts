import { run } from '../../../../db/statement.js';
import type { Automation } from '../../../../db/models/automation/automation.js';
import type { AutomationVersion } from '../../../../db/models/automation/automation-version.js';
import type { Context, Services } from '../../../platform/context.js';
import { truncateEvent } from './truncate-event.js';
import type { SkipReason } from './rules.js';
import { createRunsStatement } from './create-run.sql.js';
import type { RunStart } from '../../../platform/outbox/subscriber.js';

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
  /** Ends the run at creation: no workflow. For a run that a user started, which keeps its event; others: record-skipped.ts. */
  skip_reason?: SkipReason | null;
  condition_error?: string | null;
  correlation_id: string;
}

/** A run that was inserted; `start` is null for a skipped one. */
interface CreatedRun extends Record<string, unknown> {
  run_id: string;
  start: RunStart | null;
}

const toRecord = (input: NewRun, event_index: number) => {
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
const getEntity = ({ event }: NewRun): string | null => {
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
  const records = runs.map((each) => toRecord(each, eventIndexes.get(each.event) as number));
  const events = [...eventIndexes.keys()].map(truncateEvent);
  const created = await run<CreatedRun>(db, createRunsStatement, [JSON.stringify(records), JSON.stringify(events), leaseSeconds]);
  const causes = new Map(runs.map((each) => [each.run_id, each]));
  for (const { run_id, start } of created) {
    if (!start) continue;
    const cause = causes.get(run_id) as NewRun;
    start.entity_id = getEntity(cause);
    start.event_id = cause.event['event_id'] as string | undefined;
  }
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

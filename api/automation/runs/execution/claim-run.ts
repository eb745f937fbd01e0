import type { Knex } from 'knex';
import { defineStatement, run as sql } from '../../../../db/statement.js';
import type { RunRef } from '../../../../workflows/contracts/run-contract.js';
import type { RunStatus } from '../record/rules.js';
import type { RunRow } from './load-run.js';
import { wakeRun } from '../record/wake-run.sql.js';

/** The Temporal execution that owns a run. `execution` is the id of the workflow's first execution. */
export interface RunExecution extends RunRef {
  execution: string;
}

/**
 * `run`: the locked row, if this execution owns it. $1 = run id, $2 = incarnation, $3 = execution id. The first execution of the
 * run's incarnation claims it and may ask again after a lost response. A second execution finds no row, and neither does any once
 * the run has ended (docs/decisions/automation.md#run-claims).
 */
export const CLAIM = /* sql */ `run as (
  update automation_runs r set claimed_by = $3, started_at = coalesce(r.started_at, now()),
    status = case r.status when 'queued' then 'running' else r.status end
  where r.run_id = $1 and r.incarnation = $2 and r.finished_at is null and (r.claimed_by is null or r.claimed_by = $3)
  returning r.*
)`;

export const claimValues = ({ runId, incarnation, execution }: RunExecution): unknown[] => [runId, incarnation, execution];

const claimStatement = defineStatement({
  name: 'claim_run',
  text: /* sql */ `
    with ${CLAIM}
    select run.*, v.actions, v.schedule_timezone from run
    join automation_versions v on v.automation_id = run.automation_id and v.version = run.automation_version`,
});

/** Claims a run, or locks one already claimed, until the commit. Undefined if it ended or belongs to another execution. */
export async function claimRun(db: Knex, owner: RunExecution): Promise<RunRow | undefined> {
  const [row] = await sql<RunRow & Record<string, unknown>>(db, claimStatement, claimValues(owner));
  return row;
}

/**
 * $1 = run id, $2 = execution id. Wakes the execution that owns an open run. If that execution is lost, the dispatcher restarts
 * the run (activities/runs/automation-runs.ts), so that an execution that ends with nothing to do leaves no run behind.
 */
const endStatement = defineStatement({
  name: 'end_of_run',
  text: /* sql */ `
with run as (
  select status, claimed_by, finished_at, incarnation, correlation_id from automation_runs where run_id = $1::uuid
), woken as (${wakeRun({ runId: '$1::uuid', correlationId: 'correlation_id', from: 'from run where finished_at is null and claimed_by <> $2' })}
)
select status from run where finished_at is not null and claimed_by = $2`,
});

/** Returns the final status of a run that this execution owned; null if the run is open or belongs to another execution. */
export async function findTerminalStatus(db: Knex, { runId, execution }: RunExecution): Promise<RunStatus | null> {
  const [row] = await sql<{ status: RunStatus }>(db, endStatement, [runId, execution]);
  return row?.status ?? null;
}

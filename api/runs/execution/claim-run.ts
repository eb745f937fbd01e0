import type { Knex } from 'knex';
import { run as sql, type Statement } from '../../../db/statement.js';
import type { RunRef } from '../../../workflows/contract.js';
import type { RunStatus } from '../rules.js';
import type { RunRow } from './load-run.js';

/** Whose hands a run is in. `execution` is the id of the workflow's first execution. */
export interface RunExecution extends RunRef {
  execution: string;
}

/**
 * `run`: the row, held until the commit, when this execution may carry it. $1 run, $2 incarnation, $3 execution. The first
 * execution of the run's incarnation takes it; the same one may ask again after a lost answer, a second one finds nothing, and so
 * does everyone once the run has ended (durability notes, 3.1).
 */
export const CLAIM = /* sql */ `run as (
  update automation_runs r set claimed_by = $3, started_at = coalesce(r.started_at, now()),
    status = case r.status when 'queued' then 'running' else r.status end
  where r.run_id = $1 and r.incarnation = $2 and r.finished_at is null and (r.claimed_by is null or r.claimed_by = $3)
  returning r.*
)`;

export const claimValues = ({ runId, incarnation, execution }: RunExecution): unknown[] => [runId, incarnation, execution];

const claimStatement: Statement = {
  name: 'claim_run',
  text: /* sql */ `
    with ${CLAIM}
    select run.*, v.actions from run
    join automation_versions v on v.automation_id = run.automation_id and v.version = run.automation_version`,
};

/** Takes a run, or holds one already taken, until the commit. Undefined when it ended or belongs to another execution. */
export async function claimRun(db: Knex, carrier: RunExecution): Promise<RunRow | undefined> {
  const [row] = await sql<RunRow & Record<string, unknown>>(db, claimStatement, claimValues(carrier));
  return row;
}

/**
 * $1 = run id, $2 = execution. An open run of another execution: that one is woken, and where it is lost the run is restarted
 * (activities/worker/run-dispatcher.ts), so that an execution which ends with nothing to do leaves no run behind.
 */
const endStatement: Statement = {
  name: 'end_of_run',
  text: /* sql */ `
with run as (
  select status, claimed_by, finished_at, incarnation, correlation_id from automation_runs where run_id = $1::uuid
), woken as (
  insert into outbox (kind, subject, payload, correlation_id)
  select 'run.wake', $1::uuid::text, jsonb_build_object('run_id', $1::uuid, 'incarnation', incarnation), correlation_id
  from run where finished_at is null and claimed_by <> $2
)
select status from run where finished_at is not null and claimed_by = $2`,
};

/** How a run ended that this execution carried; null when the run is open, or belongs to another execution. */
export async function terminalStatusOf(db: Knex, { runId, execution }: RunExecution): Promise<RunStatus | null> {
  const [row] = await sql<{ status: RunStatus }>(db, endStatement, [runId, execution]);
  return row?.status ?? null;
}

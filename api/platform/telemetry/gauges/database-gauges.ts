import { defineStatement } from '../../../../db/statement.js';

/** A gauge computed from the database: the same for every process that reports it. */
export interface DatabaseGauge {
  name: string;
  help: string;
  /** Result columns that become labels, never ids; the column `value` is the value. */
  labels: readonly string[];
  /** One statement that uses an index and reads at most MAX_ROWS per kind, so one tenant's rows cannot slow it. */
  sql: string;
}

/** Upper bound of a count, so a million waiting rows do not slow a scrape. */
export const MAX_ROWS = 10_000;

const count = (rows: string): string => `select count(*)::int as value from (select ${rows} limit ${MAX_ROWS}) counted`;
/** Seconds since a timestamp, 0 without one. */
const age = (moment: string): string => `coalesce(extract(epoch from clock_timestamp() - ${moment}), 0)::float8`;
const perStatus = (statuses: string, rows: string): string => `
  select status, (select count(*)::int from (select from automation_runs r where ${rows} limit ${MAX_ROWS}) counted) as value
  from unnest('{${statuses}}'::text[]) status`;

/** Waiting outbox rows, oldest first by key. Parked rows have their own gauge. */
const OUTBOX = `(select kind, created_at from outbox where parked_at is null order by outbox_id limit ${MAX_ROWS}) oldest`;
const OPEN_GATES = `(select gate_expires_at from automation_runs where status = 'paused' and finished_at is null limit ${MAX_ROWS}) open`;

export const DATABASE_GAUGES: readonly DatabaseGauge[] = [
  {
    name: 'assent_outbox_rows',
    help: 'Rows of the outbox that wait to be dispatched, by kind; at most 10000 in all are counted',
    labels: ['kind'],
    sql: `select kind, count(*)::int as value from ${OUTBOX} group by kind`,
  },
  {
    name: 'assent_outbox_age_seconds',
    help: 'Age of the oldest row of the outbox, by kind',
    labels: ['kind'],
    sql: `select kind, ${age('min(created_at)')} as value from ${OUTBOX} group by kind`,
  },
  {
    name: 'assent_outbox_parked_rows',
    help: 'Rows of the outbox that kept failing and were parked, at most 10000',
    labels: [],
    sql: count('from outbox where parked_at is not null'),
  },
  {
    name: 'assent_audit_seal_lag_seconds',
    help: 'Age of the oldest audit entry that is not sealed yet',
    labels: [],
    sql: 'select audit_oldest_unsealed_seconds() as value',
  },
  {
    name: 'assent_audit_stream_lag_seconds',
    help: 'Age of the oldest audit entry that the log sink has not got; 0 without a sink',
    labels: [],
    sql: `
      select coalesce(max(extract(epoch from now() - uuid_extract_timestamp(n.audit_id))), 0) as value
      from (
        select s.chain, s.sequence from audit_stream s join audit_heads h using (chain) where h.sequence > s.sequence limit ${MAX_ROWS}
      ) s
      join audit_seals n on n.chain = s.chain and n.sequence = s.sequence + 1`,
  },
  {
    name: 'assent_audit_rejected_rows',
    help: 'Pending audit rows that the sealer set aside because the product never writes such rows',
    labels: [],
    sql: count('from audit_rejected'),
  },
  {
    name: 'assent_partitions_ahead',
    help: 'Months or days after the present one that have a partition, by table; -1: the present one has none',
    labels: ['table'],
    sql: 'select table_name as "table", ahead as value from partition_state()',
  },
  {
    name: 'assent_partition_default_rows',
    help: 'Rows in the default partition, by table, at most 10000: their month or day had no partition when they were written',
    labels: ['table'],
    sql: 'select table_name as "table", default_rows as value from partition_state()',
  },
  {
    name: 'assent_search_marks',
    help: 'Items marked for the search index, at most 10000',
    labels: [],
    sql: count('from search_dirty'),
  },
  {
    name: 'assent_search_lag_seconds',
    help: 'Age of the oldest of the first 10000 items marked for the search index',
    labels: [],
    sql: `select ${age('min(marked_at)')} as value from (select marked_at from search_dirty limit ${MAX_ROWS}) marked`,
  },
  {
    name: 'assent_gates_waiting',
    help: 'Approval gates that wait for a person, at most 10000',
    labels: [],
    sql: `select count(*)::int as value from ${OPEN_GATES} where gate_expires_at > now()`,
  },
  {
    name: 'assent_gates_expired',
    help: 'Approval gates past their time that nobody has rejected yet, at most 10000',
    labels: [],
    sql: `select count(*)::int as value from ${OPEN_GATES} where gate_expires_at <= now()`,
  },
  {
    name: 'assent_runs_open',
    help: 'Automation runs that have not finished, by status, at most 10000 each',
    labels: ['status'],
    sql: perStatus('queued,running,paused', 'r.status = status and r.finished_at is null'),
  },
  {
    name: 'assent_runs_queued_age_seconds',
    help: 'Age of the oldest automation run that waits to be started',
    labels: [],
    sql: `select ${age('min(queued_at)')} as value from automation_runs where status = 'queued' and finished_at is null`,
  },
  {
    name: 'assent_runs_finished_last_hour',
    help: 'Automation runs that finished in the last hour, by status, of the newest 10000',
    labels: ['status'],
    sql: `with newest as materialized (select status from automation_runs
        where finished_at > now() - interval '1 hour' order by finished_at desc limit ${MAX_ROWS})
      select status, (select count(*)::int from newest where newest.status = listed.status) as value
      from unnest('{succeeded,failed,skipped,expired,cancelled}'::text[]) as listed (status)`,
  },
  {
    name: 'assent_skipped_runs_this_hour',
    help: 'Runs that a condition or the depth skipped since the full hour, of at most 10000 teams: kept, or only counted',
    labels: ['recorded'],
    sql: `with budgets as materialized (select kept, not_kept from skipped_run_budgets
        where hour = date_trunc('hour', now()) limit ${MAX_ROWS})
      select recorded, value from (select coalesce(sum(kept), 0)::int as kept, coalesce(sum(not_kept), 0)::int as counted from budgets) sums
      cross join lateral (values ('kept', kept), ('counted', counted)) as each (recorded, value)`,
  },
  {
    name: 'assent_dead_letters',
    help: 'Failed runs of the newest 10000 finished ones that nobody has replayed with success',
    labels: [],
    sql: `select count(*)::int as value from (select status, is_test, retried_by from automation_runs
        where finished_at is not null order by finished_at desc limit ${MAX_ROWS}) newest
      where status = 'failed' and not is_test and retried_by is null`,
  },
  {
    name: 'assent_mails_waiting',
    help: 'Mails that wait to be sent, at most 10000',
    labels: [],
    sql: count("from mails where state = 'queued'"),
  },
  {
    name: 'assent_mails_overdue_seconds',
    // Not from the next attempt, which each failure moves: with the mail server down no mail would ever be overdue.
    help: 'Age of the oldest mail that is due or was tried in vain, of the first 10000 that wait',
    labels: [],
    sql: `select ${age('min(created_at)')} as value
      from (select created_at, attempts, next_attempt_at from mails where state = 'queued' limit ${MAX_ROWS}) queued
      where attempts > 0 or next_attempt_at <= now()`,
  },
  {
    name: 'assent_webhook_deliveries_waiting',
    help: 'Deliveries of outbound webhooks with an attempt to make, at most 10000',
    labels: [],
    sql: count('from webhook_queue'),
  },
  {
    name: 'assent_webhook_delivery_overdue_seconds',
    help: 'How long the oldest first attempt has been due, of endpoints that answer and of the first 10000 deliveries',
    labels: [],
    sql: `select greatest(0, ${age('min(q.next_attempt_at)')}) as value
      from (select * from webhook_queue limit ${MAX_ROWS}) q join webhook_health h using (webhook_id) join webhooks w using (webhook_id)
      where q.tries = 0 and not q.is_leased and w.is_active and h.failure_count = 0`,
  },
  {
    name: 'assent_webhooks_failing',
    help: 'Webhook endpoints whose last attempts failed, at most 10000',
    labels: [],
    sql: count('from webhooks w join webhook_health h using (webhook_id) where w.is_active and h.failure_count >= 5'),
  },
  {
    name: 'assent_deprovisions_age_seconds',
    help: 'Age of the oldest job that takes a person out of the installation and has not finished',
    labels: [],
    sql: `select ${age('min(created_at)')} as value from deprovision_jobs where finished_at is null`,
  },
  {
    name: 'assent_worker_heartbeat_age_seconds',
    help: 'Time since a worker last reported itself; infinite when none ever has',
    labels: [],
    sql: `select coalesce(extract(epoch from clock_timestamp() - max(seen_at)), 'Infinity')::float8 as value
      from heartbeats where process like 'worker%'`,
  },
  {
    name: 'assent_worker_linked',
    help: 'Workers connected to Temporal, of those that reported last',
    labels: [],
    sql: `select count(*)::int as value from heartbeats where process like 'worker%' and (details->>'temporal')::boolean
      and seen_at > (select max(seen_at) from heartbeats where process like 'worker%') - interval '15 seconds'`,
  },
];

/** So that test/db/statements.test.ts prepares them. */
for (const { name, sql } of DATABASE_GAUGES) defineStatement({ name, text: sql });

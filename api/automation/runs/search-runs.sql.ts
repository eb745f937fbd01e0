import { defineStatement, type Statement } from '../../../db/statement.js';
import { visibleAutomations } from '../definitions/automation-record.sql.js';
import { runsByIds, SKIPPED_AT } from './record/run-record.sql.js';

/** Conditions on automations. One for each case: with an "or" the kept plan would read all automations of the installation. */
const ANY_AUTOMATION = '$2::uuid is null';
const ONE_AUTOMATION = 'a.automation_id = $2';

/** One statement for all automations ($2 = null) and one for a single automation ($2 = its id). */
interface ScopedStatements {
  all: Statement;
  one: Statement;
}
const scoped = (name: string, build: (name: string, scope: string) => Statement): ScopedStatements => ({
  all: build(name, ANY_AUTOMATION),
  one: build(`${name}_of_automation`, ONE_AUTOMATION),
});

/**
 * $1 = caller id, $2 = automation id or null, $3 = row limit, $4 = start of the time range, $5 = its end, $6 = run id to continue
 * after or null. Runs of deleted automations stay in the list. Each step is bounded: one probe for each automation finds those with
 * the newest matching runs; as many automations as rows can have a run on the page, and each gives at most that many.
 */
const searchStatement = (name: string, scope: string, condition: string, withSkipped: boolean): Statement => {
  const before = '< ((select queued_at from range_end), (select run_id from range_end))';
  const newest = (limit: string): string => /* sql */ `order by queued_at desc, run_id desc limit ${limit}`;
  const started = (limit: string): string => /* sql */ `(select r.queued_at, r.run_id from automation_runs r
        where r.automation_id = a.automation_id ${condition} and r.queued_at >= $4 and (r.queued_at, r.run_id) ${before}
        ${newest(limit)})`;
  const skipped = (limit: string): string => /* sql */ `(select ${SKIPPED_AT}, s.run_id from skipped_runs s
        where s.automation_id = a.automation_id and ${SKIPPED_AT} >= $4 and (${SKIPPED_AT}, s.run_id) ${before}
        order by ${SKIPPED_AT} desc, s.run_id desc limit ${limit})`;
  const both = (limit: string): string =>
    withSkipped ? `(${started(limit)} union all ${skipped(limit)} ${newest(limit)})` : started(limit);
  return defineStatement({
    name,
    text: /* sql */ `
    with range_end as (
      select coalesce(c.queued_at, ${SKIPPED_AT}, $5) as queued_at, coalesce($6::uuid, '00000000-0000-0000-0000-000000000000') as run_id
      from (select) as always left join automation_runs c on c.run_id = $6::uuid left join skipped_runs s on s.run_id = $6::uuid
    ), recent as materialized (
      select a.automation_id from (${visibleAutomations(scope)}) a cross join lateral ${both('1')} r ${newest('$3')}
    )
    ${runsByIds(/* sql */ `array(select run_id from recent a cross join lateral ${both('$3')} r ${newest('$3')})`)}`,
  });
};

export const searchRunsStatements = scoped('search_runs', (name, scope) => searchStatement(name, scope, '', true));
/** As `searchRunsStatements`; $7 = status. */
export const searchRunsByStatusStatements = scoped('search_runs_by_status', (name, scope) =>
  // A dry run that found a fault has not failed.
  searchStatement(name, scope, `and r.status = $7 and not (r.is_test and $7 = 'failed')`, false),
);
/** As `searchRunsByStatusStatements`, for skipped runs. */
export const searchSkippedRunsStatements = scoped('search_skipped_runs', (name, scope) =>
  searchStatement(name, scope, 'and r.status = $7', true),
);
/** As `searchRunsStatements`: runs that began, also those that someone rejected. */
export const searchBegunRunsStatements = scoped('search_begun_runs', (name, scope) =>
  searchStatement(name, scope, `and (r.skip_reason is null or r.skip_reason = 'rejected')`, false),
);
/** As `searchRunsStatements`: runs that someone rejected. */
export const searchRejectedRunsStatements = scoped('search_rejected_runs', (name, scope) =>
  searchStatement(name, scope, `and r.skip_reason = 'rejected'`, false),
);

/**
 * $1 = caller id, $2 = automation id or null, $3 = starts of days, $4 = their ends, $5 = maximum count of one day and status, $6 =
 * maximum number of automations. Counts runs without test runs. No row where the caller sees more automations than that.
 */
export const countRunsByDayStatements = scoped('count_runs_by_day', (name, scope) =>
  defineStatement({
    name,
    text: /* sql */ `
    with mine as materialized (
      select a.automation_id
      from (${visibleAutomations(`a.deleted_at is null and ${scope}`)}) a limit $6 + 1
    )
    select d.ordinality::int - 1 as day, s.status, c.seen >= $5 as capped, c.runs
    from unnest($3::timestamptz[], $4::timestamptz[]) with ordinality as d (starts_at, ends_at, ordinality)
    cross join (values ('succeeded'), ('failed')) as s (status)
    cross join lateral (
      select count(*) as seen, (count(*) filter (where not is_test))::int as runs
      from (
        select r.is_test from mine cross join lateral (
          select r.is_test from automation_runs r
          where r.automation_id = mine.automation_id and r.status = s.status and r.queued_at >= d.starts_at and r.queued_at < d.ends_at
          limit $5
        ) r limit $5
      ) r
    ) c
    where (select count(*) from mine) <= $6`,
  }),
);

/** $1 = caller id. Counts the skipped runs of the last day, of the caller's teams and own automations, that were not kept. */
export const countNotKeptStatement = defineStatement({
  name: 'count_skipped_not_kept',
  text: /* sql */ `
    select coalesce(sum(b.not_kept), 0)::int as runs
    from (select team_id as owner_id from memberships where user_id = $1 union all select $1::uuid) o
    cross join generate_series(date_trunc('hour', now() - interval '1 day'), now(), '1 hour') as h(hour)
    join skipped_run_budgets b on b.hour = h.hour and b.owner_id = o.owner_id`,
});

/** $1 = caller id, $2 = row limit. Automations for a filter, by name. */
export const listAutomationNamesStatement = defineStatement({
  name: 'list_automation_names',
  text: /* sql */ `
    select a.automation_id, a.name from automations a
    where a.automation_id = any(array(${visibleAutomations('a.deleted_at is null')}))
    order by lower(a.name), a.automation_id limit $2`,
});

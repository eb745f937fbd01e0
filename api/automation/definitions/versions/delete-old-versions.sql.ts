import { defineStatement } from '../../../../db/statement.js';

/** Newest versions that always stay, whatever their size: the current one, and the one that the relay may be matching. */
const MIN_KEPT = 2;
/** Versions that one call looks at: many old ones may be in use. */
const MAX_CANDIDATES = 1_000;

/**
 * $1 = automation id, $2 = number of versions, $3 = bytes as stored, $4 = only these versions, or null for all. Deletes versions
 * older than the newest that fit both budgets, unless a run refers to them. The caller has locked the automation, so no run
 * begins to refer to one meanwhile: `create_runs` locks it FOR SHARE.
 */
export const deleteOldVersionsStatement = defineStatement({
  name: 'delete_old_versions',
  text: /* sql */ `
with newest as (
  select version, row_number() over (order by version desc) as place, sum(bytes) over (order by version desc) as total from (
    select version, pg_column_size(actions) + pg_column_size(trigger_config) + coalesce(pg_column_size(condition), 0) as bytes
    from automation_versions where automation_id = $1::uuid order by version desc limit $2::int) v
), candidate as materialized (
  select version from automation_versions
  where automation_id = $1::uuid and ($4::int[] is null or version = any($4))
    and version < (select min(version) from newest where place <= ${MIN_KEPT} or total <= $3::bigint)
  order by version desc limit ${MAX_CANDIDATES}
)
delete from automation_versions v using candidate c
where v.automation_id = $1::uuid and v.version = c.version
  and not exists (select from automation_runs r where r.automation_id = $1::uuid and r.automation_version = c.version)`,
});

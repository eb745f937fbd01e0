/**
 * Of automation_runs r with its gate g, as uuid[]: the people whose approval does not count, because the run is their own. Empty where
 * the gate allows self-approval. Own is a run to the automation's creator, as whom it acts; to the people who wrote its version, or the
 * actions that this version repeats; and to whoever started it. A replay is also the run of whoever started what it replays.
 */
export const EXCLUDED = /* sql */ `case when g.allow_self_approval then '{}'::uuid[] else array(
  with recursive started as (
    select r.triggered_by, r.retry_of
    union
    select before.triggered_by, before.retry_of from started join automation_runs before on before.run_id = started.retry_of
  )
  select r.creator_id
  union select triggered_by from started where triggered_by is not null
  union select unnest(v.co_authors || v.changed_by) from automation_versions v
    where v.automation_id = r.automation_id and v.version = r.automation_version
) end`;

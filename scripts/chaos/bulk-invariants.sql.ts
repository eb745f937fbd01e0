import type { Invariant } from './invariant.js';

/** What must hold of exports and imports. */
export const bulkInvariants: readonly Invariant[] = [
  {
    name: 'jobs_take_turns',
    words: 'No team has a job that waits while none of its jobs runs',
    sql: /* sql */ `
      select format('job %s of team %s waits for nobody', w.job_id, w.team_id) as violation from bulk_jobs w
      where w.waiting_since is not null and not exists (select from bulk_jobs o where o.team_id = w.team_id and o.is_dispatched)`,
  },
  {
    name: 'jobs_end_once',
    words: 'A job that has ended has one audit entry of its end, and any other none',
    sql: /* sql */ `
      select format('job %s is %s with %s ends', j.job_id, j.status, n.ends) as violation
      from bulk_jobs j cross join lateral (
        select count(*) as ends from audit_entries a
        where a.entity_type = 'bulk_job' and a.entity_id = j.job_id::text and a.action in ('complete', 'cancel')
          -- The undo of an import ends by itself.
          and a.details::json->>'kind' is distinct from 'undo'
      ) n where n.ends <> (j.finished_at is not null)::int`,
  },
  {
    name: 'exports_are_whole',
    words: 'An export that has succeeded has a file with all its rows, until the file expires; no other export has one',
    sql: /* sql */ `
      select format('export %s is %s with %s of %s rows', j.job_id, j.status, j.processed, j.total) as violation from bulk_jobs j
      where j.kind = 'export' and case j.status
        when 'succeeded' then j.processed is distinct from j.total or j.sha256 is null or j.object_key is null and j.expires_at > now()
        else j.object_key is not null end`,
  },
  {
    name: 'imports_add_up',
    words:
      'An import counts what it has written: each record of its counts has a row, and one that has succeeded has done every line',
    sql: /* sql */ `
      select format('import %s is %s, %s of %s: %s created with %s rows, %s updated with %s, %s skipped, %s failed with %s errors', j.job_id,
        j.status, j.processed, j.total, j.created, n.created, j.updated, n.updated, j.skipped, j.failed, n.errors) as violation
      from bulk_jobs j cross join lateral (
        select count(*) filter (where r.outcome = 'created') as created, count(*) filter (where r.outcome = 'updated') as updated,
          count(*) filter (where r.outcome = 'failed') as errors
        from bulk_rows r where r.job_id = j.job_id
      ) n
      where j.kind = 'import' and j.cursor is not null and (j.processed <> j.created + j.updated + j.skipped + j.failed
        or j.status = 'succeeded' and j.processed is distinct from j.total or (n.created, n.updated) <> (j.created, j.updated)
        -- An error a line is listed, and only so many.
        or n.errors > j.failed or (n.errors = 0) <> (j.failed = 0))`,
  },
  {
    name: 'imports_write_once',
    words: 'A task, note or comment that an import has created was created once, and changed as often as imports say so',
    sql: /* sql */ `
      select format('%s %s was created by %s imports with %s entries, and changed by %s with %s', r.entity, r.item_id, r.created, a.created,
        r.updated, a.updated) as violation
      from (
        select j.team_id, r.entity, r.item_id, count(*) filter (where r.outcome = 'created') as created,
          count(*) filter (where r.outcome = 'updated') as updated
        from bulk_rows r join bulk_jobs j using (job_id)
        where r.entity in ('task', 'note', 'comment') and r.outcome in ('created', 'updated') group by 1, 2, 3
      ) r cross join lateral (
        select count(*) filter (where a.action = 'create') as created, count(*) filter (where a.action = 'update') as updated
        from audit_entries a where a.team_id = r.team_id and a.entity_id = r.item_id
      ) a
      where r.updated > a.updated or r.created > 0 and (r.created, a.created) <> (1, 1)
        -- What was purged may come again.
        and not exists (select from audit_entries p where p.team_id = r.team_id and p.action = 'purge')`,
  },
  {
    name: 'undos_are_whole',
    words:
      'An undo that has succeeded has gone through all that its import created, and ended once; without an undo nothing is removed',
    sql: /* sql */ `
      select format('the undo of import %s is %s: %s of %s created removed, %s rows left, %s ends', j.job_id, j.undo_status, j.undone,
        j.created, n.missing, e.ends) as violation
      from bulk_jobs j cross join lateral (
        select count(*) filter (where r.undone_at is null) as missing, count(*) filter (where r.undone_at is not null) as done
        from bulk_rows r where r.job_id = j.job_id and r.outcome = 'created'
      ) n cross join lateral (
        select count(*) as ends from audit_entries a
        where a.team_id = j.team_id and a.entity_id = j.job_id::text and a.action = 'complete'
          and a.details::json->>'kind' = 'undo' and a.details::json->>'status' = 'succeeded'
      ) e
      where j.kind = 'import' and (e.ends <> (j.undo_status is not distinct from 'succeeded')::int or j.undone > n.done
        or j.undo_status = 'succeeded' and n.missing > 0 or j.undo_status is null and n.done > 0)`,
  },
];

/** Every import that was accepted. $1 = the ledger (jsonb). */
export const acknowledgedImports: readonly Invariant[] = [
  {
    name: 'acked_imports_applied',
    words:
      'Every import that was accepted did each line of its file once, or lists its error, unless it was cancelled; its counts are those of the file',
    sql: /* sql */ `
      select format('import %s is %s: %s, its file %s; errors in %s, its file in %s', a.job_id, coalesce(j.status, 'gone'), d.counts, a.counts,
        e.lines, a.failing) as violation
      from jsonb_to_recordset($1::jsonb->'imports') as a(job_id uuid, counts jsonb, failing jsonb, cancelled boolean)
      left join bulk_jobs j on j.job_id = a.job_id
      cross join lateral (
        select jsonb_build_object('total', j.total, 'created', j.created, 'updated', j.updated, 'skipped', j.skipped, 'failed', j.failed) as counts
      ) d
      cross join lateral (
        select coalesce(jsonb_agg(r.line order by r.line), '[]') as lines from bulk_rows r where r.job_id = a.job_id and r.outcome = 'failed'
      ) e
      where j.status is distinct from case when a.cancelled then 'cancelled' else 'succeeded' end
        or not a.cancelled and (d.counts <> a.counts or e.lines <> a.failing)
        or a.cancelled and not (a.failing @> e.lines and j.created <= (a.counts->>'created')::int)`,
  },
  {
    name: 'acked_imports_left',
    words: 'What an import has created is there once; after an undo that was accepted it is gone, and nothing else is',
    sql: /* sql */ `
      select format('import %s, undone: %s: of %s tasks %s exist, %s live, %s taken; of %s notes %s, of %s comments %s; %s updates of %s; kept %s; undone %s',
        a.job_id, a.undone, r.tasks, t.tasks, t.live, t.taken, r.notes, n.live, r.comments, c.live, u.updates, j.updated, k.live, j.undone)
        as violation
      from jsonb_to_recordset($1::jsonb->'imports') as a(job_id uuid, tag text, undone boolean, kept text)
      join bulk_jobs j on j.job_id = a.job_id
      cross join lateral (
        select count(*) filter (where r.entity = 'task') as tasks, count(*) filter (where r.entity = 'note') as notes,
          count(*) filter (where r.entity = 'comment') as comments
        from bulk_rows r where r.job_id = a.job_id and r.outcome = 'created'
      ) r
      cross join lateral (
        select count(*) as tasks, count(*) filter (where t.deleted_at is null) as live,
          count(*) filter (where t.cascade_id = j.undo_id) as taken
        from tasks t where t.team_id = j.team_id and t.title = 'imported ' || a.tag
      ) t
      cross join lateral (
        select count(*) filter (where i.deleted_at is null) as live from items i
        where i.team_id = j.team_id and i.title = 'imported ' || a.tag
      ) n
      cross join lateral (
        select count(*) as live from comments c join tasks t using (task_id)
        where c.team_id = j.team_id and c.content = 'imported ' || a.tag and c.deleted_at is null and t.deleted_at is null
      ) c
      cross join lateral (
        select count(*) as updates from audit_entries e where e.team_id = j.team_id and e.feature = 'tasks' and e.action = 'update'
          and e.details::jsonb->'changes'->'title'->>'to' = 'base ' || a.tag
      ) u
      cross join lateral (
        select count(*) filter (where t.deleted_at is null and p.deleted_at is null) as live
        from tasks t join projects p using (project_id) where t.task_id = a.kept
      ) k
      where t.tasks <> r.tasks or u.updates <> j.updated or k.live <> (a.kept is not null)::int
        or coalesce(j.undo_status, 'none') <> case when a.undone then 'succeeded' else 'none' end
        or case when a.undone then (t.live, t.taken, n.live, c.live, j.undone) <> (0, r.tasks, 0, 0, j.created - (a.kept is not null)::int)
          else (t.live, t.taken, n.live, c.live, j.undone) <> (r.tasks, 0, r.notes, r.comments, 0) end`,
  },
];

import { defineStatement } from '../../../db/statement.js';
import { PROJECT_JSON } from '../../work/projects/project-json.js';

/** Descendants that are counted; more are refused. */
export const MAX_DESCENDANTS = 10_000;

/**
 * $1 = task id, $2 = whether to count its live descendants, $3 = caller id: they are counted for a member of the team only. Returns the task,
 * in the trash or not, as the API shows it. The walk meets each task once, because the tree has no cycle.
 */
export const taskTargetStatement = defineStatement({
  name: 'plan_target_task',
  text: /* sql */ `
    with recursive tree as (
      select c.task_id, c.status from tasks c
      where $2::boolean and c.parent_task_id = $1 and c.deleted_at is null
        and exists (select from memberships m where m.team_id = c.team_id and m.user_id = $3)
      union all
      select c.task_id, c.status from tree join tasks c on c.parent_task_id = tree.task_id and c.deleted_at is null
    ), counted as (
      select status from tree limit ${MAX_DESCENDANTS + 1}
    )
    select task_json(t) as record, t.title, t.team_id, t.project_id, t.version, t.deleted_at is not null as in_trash,
      (select count(*)::int from counted) as descendants,
      (select count(*)::int from counted where status <> 'done') as open_descendants
    from tasks t where t.task_id = $1`,
});

/** $1 = project id. */
export const projectTargetStatement = defineStatement({
  name: 'plan_target_project',
  text: /* sql */ `
    select ${PROJECT_JSON} as record, p.name as title, p.team_id, p.project_id, p.version, p.deleted_at is not null as in_trash,
      0 as descendants, 0 as open_descendants
    from projects p where p.project_id = $1`,
});

/** $1 = relation id. Its team is the one in whose name it was made. */
export const relationTargetStatement = defineStatement({
  name: 'plan_target_relation',
  text: /* sql */ `
    select json_build_object('source_id', r.source_id, 'target_id', r.target_id, 'relation_type', r.relation_type) as record,
      s.title, r.team_id, s.project_id, null::int as version, false as in_trash, 0 as descendants, 0 as open_descendants
    from relations r cross join lateral (select title, project_id from item_place p where p.item_id = r.source_id limit 1) s
    where r.relation_id = $1`,
});

/** $1 = task id of a subtask: the relation to its parent, which no row stores. */
export const nestingTargetStatement = defineStatement({
  name: 'plan_target_nesting',
  text: /* sql */ `
    select json_build_object('source_id', t.parent_task_id, 'target_id', t.task_id, 'relation_type', 'parent_child') as record,
      t.title, t.team_id, t.project_id, null::int as version, false as in_trash, 0 as descendants, 0 as open_descendants
    from tasks t where t.task_id = $1 and t.parent_task_id is not null`,
});

/** $1 = comment id. */
export const commentTargetStatement = defineStatement({
  name: 'plan_target_comment',
  text: /* sql */ `
    select json_build_object('task_id', c.task_id, 'content', c.content) as record, t.title, t.team_id, t.project_id, null::int as version,
      c.deleted_at is not null as in_trash, 0 as descendants, 0 as open_descendants
    from comments c join tasks t using (task_id) where c.comment_id = $1`,
});

/** $1 = note id. */
export const noteTargetStatement = defineStatement({
  name: 'plan_target_note',
  text: /* sql */ `
    select json_build_object('title', i.title, 'project_id', i.project_id, 'kind', i.kind) as record, i.title, i.team_id, i.project_id,
      i.version, i.deleted_at is not null as in_trash, 0 as descendants, 0 as open_descendants
    from items i where i.item_id = $1 and i.item_type = 'note'`,
});

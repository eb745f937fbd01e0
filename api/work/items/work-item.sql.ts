/**
 * SQL expressions of the record of a work item, one for each table. Task and project keep their free fields in `item_fields`, which is
 * joined as `f`. The columns go one by one into the function, so that the content of a note is not read.
 */
const TASK_RECORD = /* sql */ `work_item_json(t.task_id, 'task', t.title, t.description, t.status, t.team_id, t.project_id,
  f.fields, t.created_by, t.created_at, t.updated_at, t.version)`;
const PROJECT_RECORD = /* sql */ `work_item_json(p.project_id::text, 'project', p.name, p.description, p.status, p.team_id,
  p.project_id, f.fields, p.created_by, p.created_at, p.updated_at, p.version)`;
const ITEM_RECORD = /* sql */ `work_item_json(i.item_id, i.item_type, i.title, i.description, i.status, i.team_id, i.project_id,
  i.fields, i.created_by, i.created_at, i.updated_at, i.version)`;

/** Free fields of the task or project with this id, joined as `f`. */
const listFields = (id: string): string =>
  `left join lateral (select f.fields from item_fields f where f.item_id = ${id} limit 1) f on true`;

/**
 * Record of the live item with an id, as columns `json`, `version`, `team_id` of `alias`. Each table is probed by its index only if
 * `when` names it: a type of the key, or nothing for an id whose type is unknown.
 */
export const recordsById = (id: string, type: string | null): string => {
  const only = (condition: string) => (type === null ? '' : `${type} ${condition} and`);
  return /* sql */ `
  left join lateral (
    select ${TASK_RECORD} as json, t.version, t.team_id from tasks t ${listFields('t.task_id')}
    where ${only("= 'task'")} t.task_id = ${id} and t.deleted_at is null limit 1
  ) task on true
  left join lateral (
    select ${PROJECT_RECORD} as json, p.version, p.team_id from projects p ${listFields('p.project_id::text')}
    where ${only("= 'project'")} p.project_id::text = ${id} and p.deleted_at is null limit 1
  ) project on true
  left join lateral (
    select ${ITEM_RECORD} as json, i.version, i.team_id, i.item_type, i.content, i.kind from items i
    where ${only("not in ('task', 'project')")} i.item_id = ${id} and i.deleted_at is null limit 1
  ) item on true`;
};

/** The record found by `recordsById`. */
export const FOUND_RECORD = 'coalesce(task.json, project.json, item.json)';

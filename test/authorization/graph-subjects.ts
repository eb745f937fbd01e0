import { v7 as uuidv7 } from 'uuid';
import type { Subject } from './subjects.js';
import type { Tenant, World } from './world.js';

interface Wish {
  tenant: Tenant;
  trashed: boolean;
  author: string;
}
type Build = (world: World, wish: Wish) => Promise<Subject>;

/**
 * Two tasks of one project with a `related_to` edge. `id` is the edge, `task_id` the source, which is in the trash where the wish says so;
 * `project_id` names the other task.
 */
export const relation: Build = async (world, { tenant, trashed, author }) => {
  const [id, task_id, target_id] = [uuidv7(), uuidv7(), uuidv7()];
  const canary = `canary ${id}`;
  await world.app.services.db.raw(
    /* sql */ `
    with keys as (insert into item_keys values (:task_id, 'task'), (:target_id, 'task')),
    made as (
      insert into tasks (task_id, project_id, team_id, title, created_by, deleted_at, deleted_by, cascade_id)
        values (:task_id, :project_id, :team_id, :canary, :author, case when :trashed then now() end,
          case when :trashed then :author::uuid end, case when :trashed then uuidv7() end),
        (:target_id, :project_id, :team_id, :canary, :author, null, null, null)
    )
    insert into relations (relation_id, relation_type, source_id, target_id, kind, from_id, to_id, from_team_id, to_team_id, team_id, created_by)
      values (:id, 'caused_by', :task_id, :target_id, 'caused', :task_id, :target_id, :team_id, :team_id, :team_id, :author)`,
    { id, task_id, target_id, project_id: tenant.project_id, team_id: tenant.team_id, canary, author, trashed },
  );
  return { id, team_id: tenant.team_id, project_id: target_id, task_id, user_id: tenant.colleague.user_id, canary };
};

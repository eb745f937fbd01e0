import { v7 as uuidv7 } from 'uuid';
import type { Subject } from './subjects.js';
import type { Tenant, World } from './world.js';

interface Wish {
  tenant: Tenant;
  author: string;
}
type Build = (world: World, wish: Wish) => Promise<Subject>;

/** A cycle of a project of its own, so that any number may be active, with one task in it; `task_id` is the task. */
const cycleAs =
  (status: 'planned' | 'active'): Build =>
  async (world, { tenant, author }) => {
    const [id, project_id, task_id] = [uuidv7(), uuidv7(), uuidv7()];
    const canary = `canary ${id}`;
    await world.app.services.db.raw(
      /* sql */ `
    with keys as (insert into item_keys values (:task_id, 'task'), (:project_id, 'project')),
    project as (insert into projects (project_id, team_id, name, created_by) values (:project_id, :team_id, :canary, :author)),
    cycle as (
      insert into cycles (cycle_id, team_id, project_id, number, name, goal, status, started_at, created_by, cause_user_ids, correlation_id)
        values (:id, :team_id, :project_id, 1, :canary, :canary, :status, case :status when 'active' then now() end, :author, '{}', :id)
    ), task as (
      insert into tasks (task_id, project_id, team_id, title, created_by, cycle_id)
        values (:task_id, :project_id, :team_id, :canary, :author, :id)
    )
    insert into cycle_tasks (cycle_id, task_id) values (:id, :task_id)`,
      { id, project_id, task_id, team_id: tenant.team_id, canary, author, status } as never,
    );
    return { id, team_id: tenant.team_id, project_id, task_id, user_id: tenant.colleague.user_id, canary };
  };

/** An active cycle with a planned one of the same project, which `user_id` names. */
const cycleToRollOver: Build = async (world, wish) => {
  const subject = { ...(await cycleAs('active')(world, wish)), user_id: uuidv7() };
  const { user_id, team_id, project_id } = subject;
  await world.app.services.db.raw(
    /* sql */ `
    insert into cycles (cycle_id, team_id, project_id, number, name, created_by, cause_user_ids, correlation_id)
      values (:user_id, :team_id, :project_id, 2, 'Next', :author, '{}', :user_id)`,
    { user_id, team_id, project_id, author: wish.author } as never,
  );
  return subject;
};

/** A planned cycle and a task that is not in it. */
const cycleAndTask: Build = async (world, wish) => {
  const subject = await cycleAs('planned')(world, wish);
  const { db } = world.app.services;
  await db('cycle_tasks').where({ cycle_id: subject.id }).delete();
  await db('tasks').where({ task_id: subject.task_id }).update({ cycle_id: null });
  return subject;
};

export const cycleSubjects = {
  cycleAndTask,
  cycle: cycleAs('planned'),
  activeCycle: cycleAs('active'),
  cycleToRollOver,
};

import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import { Id, NO_ID } from '../../../platform/fields.js';
import { shown } from '../importers/foreign.js';
import type { Batch, Row } from './batch.js';
import { placesOfProjects } from './projects-of-team.js';

/** $1 = task ids, $2 = team id. Live tasks of the team; others are unknown, whatever their team. */
const parentsStatement = defineStatement({
  name: 'parents_of_import',
  text: /* sql */ `
    select t.task_id, t.project_id from tasks t where t.task_id = any($1::text[]) and t.team_id = $2 and t.deleted_at is null`,
});

/** $1 = user ids, $2 = team id. Members, whose removal waits for the commit. */
const membersStatement = defineStatement({
  name: 'assignees_of_import',
  text: /* sql */ `
    select m.user_id from memberships m where m.user_id = any($1::uuid[]) and m.team_id = $2 order by m.user_id for key share`,
});

/** What the rows of a chunk name: projects, parents and assignees that exist in the team. */
export interface TaskPlaces {
  projects: Set<string>;
  /** Project of each parent. */
  parents: Map<string, string>;
  members: Set<string>;
}

const uuids = (ids: readonly (string | null | undefined)[]): string[] =>
  [...new Set(ids.map((id) => Id.parse(id ?? '')))].filter((id) => id !== NO_ID);

async function findMembers({ db }: Context, teamId: string, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await run<{ user_id: string }>(db, membersStatement, [ids, teamId]);
  return new Set(rows.map(({ user_id }) => user_id));
}

/** Finds what tasks of a chunk name, with a statement for each kind. The references of the rows have been loaded. */
export async function findPlaces(batch: Batch, rows: readonly Row<'task'>[]): Promise<TaskPlaces> {
  const { ctx, refs, team_id } = batch;
  const projects = await placesOfProjects(
    batch,
    rows.map(({ record }) => record.project_id),
  );
  const parentIds = rows.flatMap(({ record: { parent_task_id: ref } }) => (ref == null ? [] : [refs.getId(['task'], ref)]));
  const parents =
    parentIds.length === 0
      ? []
      : await run<{ task_id: string; project_id: string }>(ctx.db, parentsStatement, [[...new Set(parentIds)], team_id]);
  return {
    projects,
    parents: new Map(parents.map(({ task_id, project_id }) => [task_id, project_id])),
    members: await findMembers(ctx, team_id, uuids(rows.map(({ record }) => record.assigned_to))),
  };
}

/** Where a task goes, or why it cannot. */
export interface TaskPlace {
  project_id: string;
  parent_task_id: string | null;
  assigned_to: string | null;
}

/** Returns the parent of a task; null for none. A string is why there is none; a foreign file's is then a note. */
function findParent({ refs }: Batch, { parents }: TaskPlaces, ref: string, project: string): { id: string } | string {
  const id = refs.getId(['task'], ref);
  const parentProject = parents.get(id);
  if (parentProject === undefined) return 'Parent task not found';
  return parentProject === project ? { id } : 'parent_task_id must be a task of the same project';
}

/** Returns where the task of a row goes, or why it cannot be imported, as a sentence. */
export function getPlace(batch: Batch, places: TaskPlaces, row: Row<'task'>): TaskPlace | string {
  const { refs, result, isForeign } = batch;
  const { project_id: projectRef, parent_task_id: parentRef, assigned_to } = row.record;
  const project_id = projectRef == null ? batch.project_id : refs.getId(['project'], projectRef);
  if (project_id === null) return 'project_id is required: neither the record nor the import names a project';
  if (!places.projects.has(project_id)) return 'Project not found';
  const parent = parentRef == null ? undefined : findParent(batch, places, parentRef, project_id);
  if (typeof parent === 'string' && !isForeign) return parent;
  if (typeof parent === 'string') result.noted(row, `The task is at the top level: ${parent}`);
  const isMember = assigned_to != null && places.members.has(assigned_to);
  if (assigned_to != null && !isMember) result.noted(row, `The assignee ${shown(assigned_to)} is no member of the team`);
  return {
    project_id,
    parent_task_id: typeof parent === 'object' ? parent.id : null,
    assigned_to: isMember ? assigned_to : null,
  };
}

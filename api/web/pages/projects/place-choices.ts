import type { Context } from '../../../platform/context.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import { listCommonTags } from '../../../work/tasks/read/common-tags.js';
import type { Task } from '../../../work/tasks/schema.js';
import { splitTags } from './form-fields.js';

/** Projects of a team that are offered. */
const MAX_PROJECTS = 500;

/** Returns the active projects of a team, by name. */
export async function listTargets(ctx: Context, teamId: string): Promise<ProjectRecord[]> {
  const rows = await listProjects(ctx, { team_id: teamId, limit: MAX_PROJECTS, offset: 0 });
  const projects = rows.map((json) => JSON.parse(json) as ProjectRecord).filter(({ status }) => status === 'active');
  return projects.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}

/** Projects that a task can move to: those of its team. */
export async function projectActions(ctx: Context, task: Task) {
  return (await listTargets(ctx, task.team_id)).map(({ project_id, name }) => ({
    act: 'project' as const,
    label: `Move to project ${name}`,
    icon: 'board' as const,
    words: '',
    change: `project_id:${project_id}`,
    isCurrent: task.project_id === project_id,
  }));
}

/** Tags of the project that a task has not, the one that is typed, and those to remove. A list in the bar parts tags by commas, so none has one. */
export async function tagActions(ctx: Context, task: Task, q: string) {
  const offer = (tag: string, change: string, label: string) => ({
    act: 'tag' as const,
    label: `${label} ${tag}`,
    icon: change === 'add_tag' ? ('plus' as const) : ('cross' as const),
    words: 'label',
    change: `${change}:${tag}`,
    isCurrent: false,
  });
  const known = (await listCommonTags(ctx, task.project_id)).filter((tag) => !tag.includes(','));
  const [typed] = splitTags(q.replace(/^(add )?tag /i, ''));
  const isNew = typed !== undefined && !known.includes(typed) && !task.tags.includes(typed);
  return [
    ...known.filter((tag) => !task.tags.includes(tag)).map((tag) => offer(tag, 'add_tag', 'Add tag')),
    ...(isNew ? [offer(typed, 'add_tag', 'Add tag')] : []),
    ...task.tags.filter((tag) => !tag.includes(',')).map((tag) => offer(tag, 'remove_tag', 'Remove tag')),
  ];
}

import type { Context } from '../../../platform/context.js';
import { recordChange } from '../../../platform/changes/record-change.js';

export interface LinkedTask {
  task_id: string;
  title: string;
  team_id: string;
  project_id: string;
}

/** Records audit entry and activity line of a link between a task and an issue or a pull request. */
export function recordLink(
  ctx: Context,
  { task_id, title, team_id, project_id }: LinkedTask,
  { change, ...link }: { change: 'linked' | 'unlinked'; repo: string; number: number; kind: 'issue' | 'pull_request' },
): Promise<string> {
  const entity = { team_id, project_id, entity_type: 'task' as const, entity_id: task_id, title };
  const action = change === 'linked' ? 'create' : 'delete';
  const summary = `${change} ${link.repo}#${link.number}`;
  return recordChange(ctx, { ...entity, feature: 'forge', action, summary, details: link });
}

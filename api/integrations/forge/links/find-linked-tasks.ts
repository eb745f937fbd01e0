import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import type { NormalisedEvent } from '../rules.js';

export interface LinkedTask {
  task_id: string;
  team_id: string;
  /** Task record as the API returns it. */
  task: unknown;
}

/** $1 = repository, $2 = kind of link, $3 = numbers in order of rank, $4 = team ids or null for all. */
const statement = defineStatement({
  name: 'forge_linked_tasks',
  text: /* sql */ `
    select t.task_id, t.team_id, task_json(t) as task
    from forge_links l join tasks t using (task_id)
    where l.repo = $1 and l.kind = $2 and l.number = any($3::int[]) and t.deleted_at is null
      and ($4::uuid[] is null or t.team_id = any($4))
    group by t.task_id
    order by min(array_position($3::int[], l.number)), min(l.created_at), t.task_id`,
});

const present = (number: number | null): number[] => (number === null ? [] : [number]);

/**
 * Returns the links from an event to tasks: of its issue, of the issues that its pull request closes, or of its workflow run's
 * pull request.
 */
function buildLinks({ payload }: NormalisedEvent): { kind: 'issue' | 'pull_request'; numbers: number[] } {
  if ('issue_number' in payload) return { kind: 'issue', numbers: present(payload.issue_number) };
  if ('closes_issues' in payload) return { kind: 'issue', numbers: payload.closes_issues };
  if ('on_pr' in payload) return { kind: 'pull_request', numbers: present(payload.pr_number) };
  return { kind: 'issue', numbers: [] };
}

/** Returns the live tasks of these teams (null: all) that an event concerns; `event.task` is the first one of a team. */
export async function findLinkedTasks(ctx: Context, event: NormalisedEvent, teamIds: string[] | null): Promise<LinkedTask[]> {
  const { kind, numbers } = buildLinks(event);
  if (numbers.length === 0 || event.payload.repo === null) return [];
  return run<LinkedTask & Record<string, unknown>>(ctx.db, statement, [event.payload.repo.toLowerCase(), kind, numbers, teamIds]);
}

import { run, type Statement } from '../../db/statement.js';
import type { Context } from '../core/context.js';
import type { NormalisedEvent } from './rules.js';

/** $1 repository, $2 pull request, $3 its address, $4 the tasks it closes, $5 teams it may be linked in, or null for all. */
const statement: Statement = {
  name: 'forge_link_pull_request',
  text: /* sql */ `
    with dropped as (
      -- A closing keyword that was taken out again links nothing (contract, section 6).
      delete from forge_links l using tasks t
      where l.repo = $1 and l.kind = 'pull_request' and l.number = $2 and t.task_id = l.task_id and t.deleted_at is null
        and ($5::uuid[] is null or t.team_id = any($5)) and not l.task_id = any($4::text[])
    )
    insert into forge_links (task_id, repo, kind, number, url)
    select task_id, $1, 'pull_request', $2, $3 from unnest($4::text[]) as task_id
    on conflict (repo, kind, number, task_id) do update set url = excluded.url
      where forge_links.url is distinct from excluded.url`,
};

/** Links a pull request to exactly the tasks that its closing keywords name; other events change nothing. */
export async function linkPullRequest(
  ctx: Context,
  { payload }: NormalisedEvent,
  taskIds: string[],
  linkable: string[] | null,
): Promise<void> {
  if (!('closes_issues' in payload) || payload.pr_number === null || payload.repo === null) return;
  await run(ctx.db, statement, [payload.repo.toLowerCase(), payload.pr_number, payload.url, taskIds, linkable]);
}

import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = repository, $2 = pull request number, $3 = its address, $4 = ids of the tasks it closes, $5 = team ids it may link, or
 * null for all, $6 = title, $7 = its state, $8 = its author. Returns the tasks that it was linked to or unlinked from.
 */
export const linkPullRequestStatement = defineStatement({
  name: 'forge_link_pull_request',
  text: /* sql */ `
    with dropped as (
      -- Removes the links of closing keywords that are no longer in the text.
      delete from forge_links l using tasks t
      where l.repo = $1 and l.kind = 'pull_request' and l.number = $2 and t.task_id = l.task_id and t.deleted_at is null
        and ($5::uuid[] is null or t.team_id = any($5)) and not l.task_id = any($4::text[])
      returning l.task_id, 'unlinked' as change
    ), made as (
      insert into forge_links (task_id, repo, kind, number, url, title, merged, state, author)
      -- A process of the version before reads \`merged\`, and writes it without \`state\`.
      select task_id, $1, 'pull_request', $2, $3, $6, $7::text = 'merged', $7, $8 from unnest($4::text[]) as task_id
      on conflict (repo, kind, number, task_id) do update
        set (url, title, merged, state, author) = (excluded.url, excluded.title, excluded.merged, excluded.state, excluded.author)
        where (forge_links.url, forge_links.title, forge_links.merged, forge_links.state, forge_links.author)
          is distinct from (excluded.url, excluded.title, excluded.merged, excluded.state, excluded.author)
      returning task_id, case when old.url is distinct from new.url or old.task_id is null then 'linked' end as change
    )
    select t.task_id, t.title, t.team_id, t.project_id, c.change
    from (select * from dropped union all select * from made) c join tasks t using (task_id)
    where c.change is not null order by t.task_id`,
});

import { defineStatement } from '../../../../db/statement.js';

const COLUMNS =
  'u.upstream_id, u.team_id, u.slug, u.url, u.headers, u.hold_seconds, u.is_active, u.offers_tasks, u.checked_at, u.created_by, u.created_at';

/** $1 = upstream id, $2 = team id, $3 = slug, $4 = address, $5 = headers (jsonb), $6 = seconds, $7 = whether it offers tasks, $8 = user id, $9 = limit. No row: the team has too many. */
export const insertUpstreamStatement = defineStatement({
  name: 'insert_mcp_upstream',
  text: /* sql */ `
    insert into mcp_upstreams (upstream_id, team_id, slug, url, headers, hold_seconds, offers_tasks, created_by)
    select $1, $2, $3, $4, $5::jsonb, $6, $7, $8 where (select count(*) from mcp_upstreams where team_id = $2) < $9::int returning upstream_id`,
});

/** $1 = team id. */
export const listUpstreamsStatement = defineStatement({
  name: 'list_mcp_upstreams',
  text: `select ${COLUMNS} from mcp_upstreams u where u.team_id = $1 order by u.slug`,
});

/** $1 = upstream id. */
export const upstreamStatement = defineStatement({
  name: 'mcp_upstream',
  text: `select ${COLUMNS} from mcp_upstreams u where u.upstream_id = $1`,
});

/** $1 = id or slug, $2 = caller id, $3 = roles that may use it. Those that the caller may use. */
export const usableUpstreamsStatement = defineStatement({
  name: 'usable_mcp_upstreams',
  text: /* sql */ `
    select ${COLUMNS} from mcp_upstreams u join memberships m on m.team_id = u.team_id and m.user_id = $2 and m.role = any($3::text[])
    where u.is_active and (u.slug = $1 or u.upstream_id::text = $1) order by u.upstream_id limit 10`,
});

/** $1 = upstream id, $2 = seconds, $3 = active, $4 = whether it offers tasks; null leaves each as it is. */
export const updateUpstreamStatement = defineStatement({
  name: 'update_mcp_upstream',
  text: /* sql */ `
    update mcp_upstreams set hold_seconds = coalesce($2::int, hold_seconds), is_active = coalesce($3::boolean, is_active),
      offers_tasks = coalesce($4::boolean, offers_tasks)
    where upstream_id = $1 returning upstream_id`,
});

/** $1 = upstream id. */
export const deleteUpstreamStatement = defineStatement({
  name: 'delete_mcp_upstream',
  text: 'delete from mcp_upstreams where upstream_id = $1 returning upstream_id',
});

/** $1 = team id. */
export const deleteUpstreamsOfTeamStatement = defineStatement({
  name: 'delete_mcp_upstreams_of_team',
  text: 'delete from mcp_upstreams where team_id = $1',
});

/** $1 = upstream id. Tools in the order of their names. */
export const toolsStatement = defineStatement({
  name: 'mcp_tools_of_upstream',
  text: /* sql */ `
    select t.name, t.definition, t.tool_hash, t.policy, t.state, t.seen, t.seen_hash, t.pinned_by, t.pinned_at
    from mcp_tools t where t.upstream_id = $1 order by t.name`,
});

/**
 * $1 = upstream id, $2 = what the server shows (jsonb array of name, definition, hash in hexadecimal digits), $3 = user id if new tools are pinned, else null.
 * A tool that comes later is new, one that differs changed: neither is callable until it is pinned.
 */
export const seeToolsStatement = defineStatement({
  name: 'see_mcp_tools',
  text: /* sql */ `
    with seen as (
      select s.name, s.definition, decode(s.hash, 'hex') as hash from jsonb_to_recordset($2::jsonb) as s(name text, definition text, hash text)
    ), stored as (
      insert into mcp_tools (upstream_id, name, definition, tool_hash, state, seen, seen_hash, pinned_by, pinned_at)
      select $1, s.name, case when $3::uuid is not null then s.definition end, case when $3::uuid is not null then s.hash end,
        case when $3::uuid is not null then 'pinned' else 'new' end,
        case when $3::uuid is null then s.definition end, case when $3::uuid is null then s.hash end, $3::uuid,
        case when $3::uuid is not null then now() end
      from seen s
      on conflict (upstream_id, name) do update set
        state = case when mcp_tools.definition is null then 'new' when mcp_tools.tool_hash = excluded.tool_hash
            or mcp_tools.tool_hash = excluded.seen_hash then 'pinned' else 'changed' end,
        seen = coalesce(excluded.seen, excluded.definition), seen_hash = coalesce(excluded.seen_hash, excluded.tool_hash)
    ), gone as (
      update mcp_tools t set state = 'gone' where t.upstream_id = $1 and t.name not in (select s.name from seen s)
    )
    update mcp_upstreams set checked_at = now() where upstream_id = $1 returning upstream_id`,
});

/** $1 = upstream id, $2 = tool, $3 = policy, $4 = hash, $5 = user id. Pins exactly the definition with this hash. */
export const pinToolStatement = defineStatement({
  name: 'pin_mcp_tool',
  text: /* sql */ `
    update mcp_tools t set policy = $3, pinned_by = $5, pinned_at = now(), state = case when t.state = 'gone' then 'gone' else 'pinned' end,
      definition = case when t.seen_hash = $4::bytea then coalesce(t.seen, t.definition) else t.definition end, tool_hash = $4::bytea
    where t.upstream_id = $1 and t.name = $2 and (t.seen_hash = $4::bytea or (t.tool_hash = $4::bytea and t.state <> 'changed'))
    returning t.name`,
});

/** $1 = upstream id, $2 = tool, $3 = definition as it is now or null if it is gone, $4 = its hash or null. */
export const markToolStatement = defineStatement({
  name: 'mark_mcp_tool',
  text: /* sql */ `
    update mcp_tools t set seen = $3, seen_hash = $4::bytea, state = case when $3::text is null then 'gone'
        when t.definition is null then 'new' when t.tool_hash = $4::bytea then 'pinned' else 'changed' end
    where t.upstream_id = $1 and t.name = $2`,
});

/** $1 = upstream id, $2 = token id, $3 = tool, $4 = hash of the arguments, $5 = ms, $6 = result. */
export const noteCallStatement = defineStatement({
  name: 'note_mcp_call',
  text: /* sql */ `
    insert into mcp_calls (upstream_id, token_id, name, arguments_hash, duration_ms, result) values ($1, $2, $3, $4, $5, $6)`,
});

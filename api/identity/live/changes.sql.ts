import { defineStatement } from '../../../db/statement.js';
import { IS_LIVE_SESSION, IS_LIVE_TOKEN } from '../auth/authenticate.js';

/**
 * Longest time, before a place in the order was given out, at which a change after it may have been written: a transaction that began earlier is still
 * running then. It only says which partitions are read; the timeouts of every process are far shorter.
 */
const SLACK = /* sql */ `interval '1 day'`;

const COLUMNS =
  'change_id, xid, owner_id, team_id, project_id, event_type, entity_type, action, entity_id, parent_id, actor_id, actor_type, correlation_id';

/**
 * The oldest transaction that still runs. Each row of an older one is visible to this statement or will never be: so what is given out below it is all
 * there is.
 */
const NOW = /* sql */ `now as materialized (
      select pg_snapshot_xmin(s.snapshot) as xmin, pg_snapshot_xmin(s.snapshot) < pg_snapshot_xmax(s.snapshot) as held, live_history() as history
      from pg_current_snapshot() as s(snapshot)
    )`;

/** SQL: the next rows of one owner, from its own range of the index. */
const next = (owner: string, after: string, from: string, limit: string): string => /* sql */ `
      select c.* from live_changes c
      where c.owner_id = ${owner} and (c.xid, c.change_id) > ${after} and c.xid < now.xmin and c.change_id >= uuid_at(${from} - ${SLACK})
      order by c.xid, c.change_id limit ${limit}`;

const columnsOf = (row: string): string => COLUMNS.replaceAll(/\w+/g, `${row}.$&`);

/**
 * $1 = user id, $2 = team id or null for all, $3 and $4 = transaction and change after which to read, $5 = when that place was given out, $6 = row limit.
 * The changes of the user and their teams, with the role in each; at least one row, whose change_id may be null. `owners`: the user and the teams.
 */
export const readChangesStatement = defineStatement({
  name: 'read_live_changes',
  text: /* sql */ `
    with ${NOW}, owners as materialized (
      select m.team_id as owner_id, m.role from memberships m where m.user_id = $1 and ($2::uuid is null or m.team_id = $2)
      union all select $1, null where $2::uuid is null
    ), found as (
      select n.*, o.role from now cross join owners o cross join lateral (${next('o.owner_id', '($3::xid8, $4::uuid)', '$5::timestamptz', '$6')}
      ) n order by n.xid, n.change_id limit $6
    )
    select now.xmin, now.history, array(select owner_id from owners) as owners, ${columnsOf('f')}, f.role
    from now left join found f on true order by f.xid, f.change_id`,
});

/** $1 = team or user ids, otherwise as above from $2 on. Nothing is read while no older transaction has ended. */
export const nextChangesStatement = defineStatement({
  name: 'next_live_changes',
  text: /* sql */ `
    with ${NOW}, found as (
      select n.* from now cross join unnest($1::uuid[]) as o(owner_id) cross join lateral (${next('o.owner_id', '($2::xid8, $3::uuid)', '$4::timestamptz', '$5')}
      ) n where $2::xid8 < now.xmin order by n.xid, n.change_id limit $5
    )
    select now.xmin, now.held, now.history, ${columnsOf('f')} from now left join found f on true order by f.xid, f.change_id`,
});

/**
 * Rights at this moment: $1 = session ids, $2 = token ids, $3 = user ids, $4 = team ids, $5 = seconds after which an idle session ends. Returns what is
 * live of the former, and each role of these users in these teams.
 */
export const rightsStatement = defineStatement({
  name: 'live_rights',
  text: /* sql */ `
    select
      array(select s.session_id from sessions s join users u using (user_id) left join users i on i.user_id = s.impersonator_id
        where s.session_id = any($1::uuid[]) and ${IS_LIVE_SESSION} and s.last_seen_at > now() - make_interval(secs => $5))
      || array(select t.token_id from personal_access_tokens t join users u using (user_id)
        where t.token_id = any($2::uuid[]) and ${IS_LIVE_TOKEN}) as credentials,
      coalesce((select json_agg(json_build_array(m.user_id || ' ' || m.team_id, m.role)) from memberships m
        where m.team_id = any($4::uuid[]) and m.user_id = any($3::uuid[])), '[]') as seats`,
});

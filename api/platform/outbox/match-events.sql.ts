import { defineStatement, type Statement } from '../../../db/statement.js';
import type { AnySubscriberKind } from './subscriber.js';

/** Maximum events per pass, of one team and in total. A personal event counts for the user. */
export const EVENTS_PER_TEAM = 20;
export const EVENTS_PER_PASS = 100;
/** Maximum pairs of event and subscriber per pass. */
export const PAIRS_PER_PASS = 1_000;
/** Maximum pairs of one event per pass, and of each team: about as many as its budget allows. */
const PAIRS_PER_TEAM = 300;
/** Maximum events without a subscriber that one poll drops, in total and of one team. */
const DROPPED_PER_POLL = 1_000;
const DROPPED_PER_TEAM = 200;
/** Teams per pass; the next pass continues after them. */
const TEAMS_PER_PASS = 100;

/** Asynchronous commit: a write lost in a crash is repeated without effect. */
export const ASYNC_COMMIT = `set_config('synchronous_commit', 'off', true) <> ''`;

/** Maximum wait of a pass for a locked row, in ms. */
const LOCK_TIMEOUT_MS = 100;

/** Owner of an outbox row o: its team, or the user who caused it. As in the indexes `outbox_events` and `outbox_starts`. */
export const OWNER = `coalesce(o.team_id, o.actor_id, '00000000-0000-0000-0000-000000000000')`;
/** Sorts before all owners. */
export const NO_OWNER = '00000000-0000-0000-0000-000000000000';
const DUE = `o.kind = 'event' and o.parked_at is null and o.next_attempt_at <= now()`;

const walk = (name: string, rows: string, from: string, to: string): string => /* sql */ `${name} as (
  (select ${OWNER} as owner_id from outbox o where ${rows} and ${OWNER} ${from} order by 1 limit 1)
  union all
  select (select ${OWNER} from outbox o where ${rows} and ${OWNER} > w.owner_id ${to} order by 1 limit 1) from ${name} w
  where w.owner_id is not null
)`;

/**
 * Owners of some outbox rows o, by one index probe each: those after the owner `after`, then from the start. `owner` has `owner_id` and
 * `place`.
 */
export const buildOwnersSql = (
  rows: string,
  after: string,
): string => /* sql */ `recursive ${walk('behind', rows, `> ${after}::uuid`, '')}, ${walk('before', rows, `>= '${NO_OWNER}'`, `and ${OWNER} <= ${after}::uuid`)},
owner as materialized (
  select owner_id, row_number() over () as place from (
    (select owner_id from behind where owner_id is not null limit ${TEAMS_PER_PASS})
    union all
    (select owner_id from before where owner_id <= ${after}::uuid limit ${TEAMS_PER_PASS})
    limit ${TEAMS_PER_PASS}
  ) walked
)`;
const OWNERS = buildOwnersSql(DUE, '$1');

const buildOldestSql = (limit: number | string): string => /* sql */ `select o.outbox_id, o.next_attempt_at from outbox o
    where ${DUE} and ${OWNER} = w.owner_id order by o.next_attempt_at, o.outbox_id limit ${limit}`;

/** Subscribers of all kinds to the event o: `kind`, `subscriber_id`, `version`. */
const buildAudienceSql = (kinds: readonly AnySubscriberKind[]): string =>
  kinds
    .map(({ name, audience }) => `select '${name}' as kind, ${name}_audience.* from (${audience}) ${name}_audience`)
    .join('\n    union all ');

/** Kinds of due rows, except events: one index probe each, however many rows are not due. */
const KINDS = /* sql */ `kinds as (
  select min(kind) as kind from outbox where kind <> 'event'
  union all
  select (select min(o.kind) from outbox o where o.kind <> 'event' and o.kind > k.kind) from kinds k where k.kind is not null
), due as materialized (
  select k.kind from kinds k where exists (
    select from outbox o where o.kind = k.kind and o.kind <> 'event' and o.next_attempt_at <= now())
)`;

/**
 * Drops due events without subscribers in one statement and returns what else is due. Looks at every owner, however many events
 * the first ones have; with more owners left, a pass follows and moves the start. $1 = owner after whom to start.
 */
export const pollStatement = (kinds: readonly AnySubscriberKind[]): Statement =>
  defineStatement({
    name: `poll_outbox_${kinds.map(({ name }) => name).join('_')}`,
    text: /* sql */ `
with ${OWNERS}, ${KINDS}, share as materialized (
  select least(${DROPPED_PER_TEAM}, ${DROPPED_PER_POLL} / greatest(1, count(*))) as events from owner
), candidate as materialized (
  select w.owner_id, e.outbox_id from owner w cross join lateral (${buildOldestSql('(select events from share)')}) e
), dropped as (
  delete from outbox where outbox_id = any(array(
    select o.outbox_id from outbox o where o.outbox_id in (select outbox_id from candidate)
      and not exists (${buildAudienceSql(kinds)})
    order by o.outbox_id for update skip locked)) and ${ASYNC_COMMIT}
  returning outbox_id
)
select (select count(*)::int from dropped) as dropped,
  exists (select from dropped) and exists (
    select from candidate group by owner_id having count(*) >= (select events from share)) as more,
  (select count(*) from candidate) > (select count(*) from dropped) or (select count(*) from owner) >= ${TEAMS_PER_PASS} as events,
  exists (select from due where kind like 'forge.%') as deliveries,
  exists (select from due where kind not like 'forge.%') as dispatches,
  exists (select from audit_pending) as unsealed,
  exists (select from search_dirty) as unindexed,
  exists (select from notice_marks) as unnoticed,
  exists (select from mails where state = 'queued' and next_attempt_at <= now()) as mails`,
  });

/**
 * Locks due events, the oldest of each owner first and the owners in turn, and pairs them with their subscribers after each
 * event's cursor. Limits each owner's share of the pairs, so that every owner gets some. $1 = owner after whom to start, $2 =
 * only these events (null: all owners in turn). Skips rows locked by other workers.
 * Returns one row per event in order, with its pairs as arrays; reads no payload of an event without pairs.
 */
export const takeEventsStatement = (kinds: readonly AnySubscriberKind[]): Statement =>
  defineStatement({
    name: `take_events_${kinds.map(({ name }) => name).join('_')}`,
    text: /* sql */ `
with ${OWNERS}, candidate as materialized (
  select e.outbox_id, w.place, row_number() over (partition by w.owner_id order by e.next_attempt_at, e.outbox_id) as rank
  from owner w cross join lateral (${buildOldestSql(EVENTS_PER_TEAM)}) e where $2::bigint[] is null
), chosen as materialized (
  (select outbox_id, row_number() over (order by rank, place) as position from candidate order by position limit ${EVENTS_PER_PASS})
  union all
  select given.id, given.position from unnest($2::bigint[]) with ordinality as given(id, position)
), taken as materialized (
  select o.outbox_id, o.subject, o.team_id, o.actor_id, o.project_id, o.project_ids, o.is_quiet, o.matched_up_to, c.position, ${OWNER} as owner_id
  -- By primary key: without "parked_at is null" the planner cannot read all due events instead. A parked row is never due.
  from chosen c join outbox o using (outbox_id) where o.kind = 'event' and o.next_attempt_at <= now() for update of o skip locked
), share as materialized (
  select least(${PAIRS_PER_TEAM}, greatest(10, ${PAIRS_PER_PASS} / greatest(1, count(distinct owner_id))))::int as pairs,
    least(${PAIRS_PER_PASS}, ${PAIRS_PER_TEAM} * count(distinct owner_id))::int as all_pairs,
    -- For the rest of the transaction: a locked automation must not delay other owners' events.
    set_config('lock_timeout', '${LOCK_TIMEOUT_MS}ms', true) from taken
), pairs as materialized (
  select o.outbox_id, p.*, row_number() over () as n
  from (select * from taken order by position) o cross join lateral (
    select s.* from (
    ${buildAudienceSql(kinds)}
    ) s
    where o.matched_up_to is null or (s.kind || ':' || s.subscriber_id) collate "C" > o.matched_up_to
    order by (s.kind || ':' || s.subscriber_id) collate "C" limit (select pairs from share)
  ) p limit (select all_pairs from share)
), paired as (
  select outbox_id, array_agg(kind order by n) as kinds, array_agg(subscriber_id::text order by n) as subscribers,
    array_agg(version order by n) as versions
  from pairs group by outbox_id
)
select t.outbox_id, t.owner_id, t.position::int, (select pairs from share) as share, (select all_pairs from share) as pass_share, p.kinds, p.subscribers, p.versions,
  o.subject, o.event_id, o.team_id, o.project_id, o.correlation_id, o.caused_by_run, o.depth, o.cause_user_ids, o.created_at::text, now()::text as now,
  case when p.outbox_id is not null then o.payload end as payload,
  case when p.outbox_id is not null then (select json_build_object('project_id', j.project_id, 'name', j.name, 'status', j.status)
    from projects j where j.project_id = o.project_id) end as project,
  case when p.outbox_id is not null then (select json_build_object('user_id', u.user_id, 'name', u.name, 'email', u.email)
    from users u where u.user_id = o.actor_id) end as actor,
  case when p.outbox_id is not null then (select e.key from teams e where e.team_id = o.team_id) end as team_key,
  case when p.outbox_id is not null then names_of_task_event(o.team_id, o.payload) end as names
from taken t join outbox o using (outbox_id) left join paired p using (outbox_id) order by t.position`,
  });

/** $1 = ids of finished events, $2 = ids of events to continue, $3 = their cursors. */
export const finishStatement = defineStatement({
  name: 'finish_events',
  text: /* sql */ `
with done as (delete from outbox where outbox_id = any($1::bigint[]))
update outbox o set matched_up_to = g.cursor from unnest($2::bigint[], $3::text[]) as g(outbox_id, cursor)
where o.outbox_id = g.outbox_id`,
});

import { defineStatement } from '../../../db/statement.js';

/** Marks of one pass. */
export const MARKS_PER_PASS = 500;
/** Unread notices of a group that stand; the last one replaces what follows. */
const STANDING = 20;
/** Tasks that a notice knows of those that it stands for; it counts the others. */
const FOLDED = 500;
/** Longest text of a comment or an error that a notice quotes, in characters. */
const QUOTED = 300;
const TITLED = 120;
/** Marks that this version turns into notices. It leaves those of a newer one, whose worker comes with it. */
export const MARK_KINDS = [
  'assigned',
  'mentioned',
  'described',
  'commented',
  'status_changed',
  'run_ended',
  'project_updated',
  'update_mentioned',
];

/** A change as one person is told of it. */
export interface NoticeFact {
  kind: 'assigned' | 'mentioned' | 'commented' | 'status_changed' | 'run_ended' | 'project_updated';
  user_id: string;
  team_id: string | null;
  item_id: string | null;
  comment_id: string | null;
  run_id: string | null;
  automation_id: string | null;
  /** Who made the change; null: unknown, or nobody. */
  actor_id: string | null;
  actor_name: string | null;
  /** As the audit log has it. */
  actor_type: string | null;
  /** Title of the task, name of the automation. */
  title: string;
  /** Text of the comment, error of the run, comment of a rejection, health of a project. */
  quoted: string | null;
  /** How a run ended; what became of a task. */
  outcome: 'failed' | 'expired' | 'skipped' | 'completed' | 'canceled' | 'duplicate' | 'reopened' | null;
  notice_mail: 'soon' | 'daily' | 'never';
  timezone: string | null;
}

/** Whether this transaction writes notices: one does at a time, for two would both count what stands in a group and replace its last one. */
export const takeTurnStatement = defineStatement({
  name: 'take_notice_turn',
  text: `select pg_try_advisory_xact_lock(hashtextextended('personal notices', 0)) as is_ours`,
});

/**
 * Takes the oldest marks, and returns their number and what is still true of them, in one row: a task that has another assignee since, or a deleted comment, is
 * left out, and so is what a person did themselves, unless an automation did it for them. The next occurrence of a recurring task is no news.
 */
export const takeMarksStatement = defineStatement({
  name: 'take_notice_marks',
  text: /* sql */ `
    with taken as materialized (
      -- An array is made once. A subquery that skips what is locked may be run for each row, and then takes all there is.
      delete from notice_marks where mark = any(array(
        select mark from notice_marks where kind in (${MARK_KINDS.map((kind) => `'${kind}'`).join(', ')}) order by mark limit ${MARKS_PER_PASS} for update skip locked
      ))
      returning mark, xid, kind, team_id, user_id, entity_id
    ), actors as materialized (
      select distinct on (l.owner_id, l.xid, l.entity_type, l.entity_id) l.owner_id, l.xid, l.entity_type, l.entity_id, l.actor_id, l.actor_type
      from (select distinct team_id, xid from taken where kind <> 'run_ended') c
      join live_changes l on l.owner_id = c.team_id and l.xid = c.xid and l.change_id >= uuid_at((select min(uuid_extract_timestamp(k.mark)) from taken k) - interval '1 day')
      where l.entity_type in ('task', 'comment')
      order by l.owner_id, l.xid, l.entity_type, l.entity_id, l.change_id desc
    ), said as materialized (
      -- A deletion of the comment waits for its notices, which go with it.
      select k.mark, k.xid, k.kind, k.team_id, k.user_id, k.entity_id, c.comment_id, c.task_id, c.author_id, left(c.content, ${QUOTED}) as text
      from taken k join comments c on c.comment_id = k.entity_id::uuid
      where k.kind in ('mentioned', 'commented') and c.deleted_at is null and (k.kind = 'commented' or k.user_id = any(c.mentions))
      for share of c
    ), facts as materialized (
      select k.mark, k.kind, k.user_id, k.team_id, t.task_id as item_id, null::uuid as comment_id, null::uuid as run_id, null::uuid as automation_id, a.actor_id, a.actor_type,
        t.title, null as quoted, null as outcome
      from taken k join tasks t on t.task_id = k.entity_id and t.team_id = k.team_id and t.assigned_to = k.user_id and t.deleted_at is null
      left join actors a on a.owner_id = k.team_id and a.xid = k.xid and a.entity_type = 'task' and a.entity_id = k.entity_id
      where k.kind = 'assigned' and not (t.series_id is not null and a.actor_type = 'system')
      union all
      select k.mark, 'mentioned', k.user_id, k.team_id, t.task_id, null, null, null, a.actor_id, a.actor_type, t.title, null, null
      from taken k join tasks t on t.task_id = k.entity_id and t.team_id = k.team_id and t.deleted_at is null
      left join actors a on a.owner_id = k.team_id and a.xid = k.xid and a.entity_type = 'task' and a.entity_id = k.entity_id
      where k.kind = 'described' and not (t.series_id is not null and a.actor_type = 'system')
      union all
      -- Only the last change, as the task is now.
      select k.mark, k.kind, k.user_id, k.team_id, t.task_id, null, null, null, a.actor_id, a.actor_type, t.title, null,
        case when t.status <> 'done' then 'reopened' else coalesce(t.resolution, 'completed') end
      from (
        select distinct on (user_id, entity_id) * from taken where kind = 'status_changed' order by user_id, entity_id, mark desc
      ) k join tasks t on t.task_id = k.entity_id and t.team_id = k.team_id and t.deleted_at is null
      left join actors a on a.owner_id = k.team_id and a.xid = k.xid and a.entity_type = 'task' and a.entity_id = k.entity_id
      union all
      select k.mark, k.kind, k.user_id, k.team_id, t.task_id, k.comment_id, null, null, k.author_id, a.actor_type, t.title, k.text, null
      from said k join tasks t on t.task_id = k.task_id and t.team_id = k.team_id and t.deleted_at is null
      left join actors a on a.owner_id = k.team_id and a.xid = k.xid and a.entity_type = 'comment' and a.entity_id = k.entity_id
      union all
      select k.mark, k.kind, k.user_id, k.team_id, null, null, r.run_id, r.automation_id, g.decided_by, null, r.automation_name,
        left(coalesce(g.reason, r.error->>'message'), ${QUOTED}), r.status
      from taken k join automation_runs r on r.run_id = k.entity_id::uuid
      left join lateral (
        select g.decided_by, g.reason from gates g where g.run_id = r.run_id and g.decision = 'rejected' order by g.gate_index desc limit 1
      ) g on r.status = 'skipped'
      where k.kind = 'run_ended'
      union all
      -- Whom an update names reads it there: a text that is edited or deleted later is nowhere else.
      select k.mark, case k.kind when 'update_mentioned' then 'mentioned' else k.kind end, k.user_id, k.team_id, p.project_id::text, null, null, null,
        w.author_id, null, p.name, case k.kind when 'project_updated' then w.health end, null
      from taken k join project_updates w on w.update_id = k.entity_id::uuid
      join projects p on p.project_id = w.project_id and p.team_id = k.team_id and p.deleted_at is null
      where k.kind in ('project_updated', 'update_mentioned')
    ), news as (
      select f.mark, f.kind, f.user_id, f.team_id, f.item_id, f.comment_id, f.run_id, f.automation_id, f.actor_id, p.display_name as actor_name,
        f.actor_type, left(f.title, ${TITLED}) as title, f.quoted, f.outcome, u.notice_mail, u.preferences->>'timezone' as timezone
      from facts f join users u on u.user_id = f.user_id and u.status = 'active' left join users p on p.user_id = f.actor_id
      where (f.team_id is null or exists (select from memberships m where m.team_id = f.team_id and m.user_id = f.user_id))
        and (f.actor_id is distinct from f.user_id or f.actor_type = 'automation')
    )
    select (select count(*)::int from taken) as taken, coalesce((select json_agg(to_jsonb(t) - 'mark' order by t.mark) from news t), '[]') as facts`,
});

/**
 * $1 = notices as a JSON array, oldest first: user_id, team_id, kind, message, run_id, item_id, comment_id, actor_id, group_key, mail_at. Of each user's group at
 * most twenty stand unread; what would be more replaces the last one, which counts it.
 */
export const insertNoticesStatement = defineStatement({
  name: 'insert_notices',
  text: /* sql */ `
    with given as materialized (
      select g.*, row_number() over w as n, count(*) over (partition by g.user_id, g.group_key)::int as total
      from rows from (jsonb_to_recordset($1::jsonb) as (user_id uuid, team_id uuid, kind text, message text, run_id uuid, item_id text,
        comment_id uuid, actor_id uuid, group_key text, mail_at timestamptz)) with ordinality as g(user_id, team_id, kind, message, run_id, item_id, comment_id,
        actor_id, group_key, mail_at, place)
      window w as (partition by g.user_id, g.group_key order by g.place)
    ), standing as materialized (
      select g.user_id, g.group_key, count(s.notification_id)::int as unread,
        (array_agg(s.notification_id order by s.notification_id desc))[1] as newest, (array_agg(s.more order by s.notification_id desc))[1] as more
      from (select distinct user_id, group_key from given) g left join lateral (
        select n.notification_id, n.more from notifications n
        where n.user_id = g.user_id and n.group_key = g.group_key and n.read_at is null order by n.notification_id desc limit ${STANDING}
      ) s on true group by g.user_id, g.group_key
    ), replaced as (
      delete from notifications n using standing s where s.unread >= ${STANDING} and n.notification_id = s.newest
      returning n.user_id, n.group_key, n.mail_at, n.item_id, n.folded
    )
    insert into notifications (user_id, team_id, kind, message, run_id, item_id, comment_id, actor_id, group_key, mail_at, more, folded)
    select g.user_id, g.team_id, g.kind, g.message, g.run_id, g.item_id, g.comment_id, g.actor_id, g.group_key, coalesce(r.mail_at, g.mail_at),
      case when s.unread + g.total > ${STANDING} and g.n = g.total
        then g.total - 1 - greatest(0, ${STANDING - 1} - s.unread) + case when s.unread >= ${STANDING} then s.more + 1 else 0 end
        else 0 end,
      case when g.kind = 'assigned' and g.n = g.total and s.unread + g.total > ${STANDING}
        then (coalesce(r.folded, '{}') || array_remove(array[r.item_id], null) || array(
          select f.item_id from given f where f.user_id = g.user_id and f.group_key = g.group_key and f.n > ${STANDING - 1} - s.unread and f.n < f.total order by f.n
        ))[:${FOLDED}] else '{}' end
    from given g join standing s using (user_id, group_key) left join replaced r using (user_id, group_key)
    where s.unread + g.total <= ${STANDING} or g.n <= ${STANDING - 1} - s.unread or g.n = g.total
    order by g.place`,
});

import { defineStatement } from '../../../db/statement.js';

/** People of one transaction. */
const BATCH = 100;
/** Notices that one email lists; it counts the others. */
const LISTED = 10;

/**
 * Claims the notices whose time for an email has come, of the people for whom it came first, and returns those that are unread and still theirs to
 * see, of no task in the trash, by person, those of a task after its name (HAR-12); one row for each person, whose list may be empty. Another worker leaves these people to this one.
 */
export const claimNoticesStatement = defineStatement({
  name: 'claim_notice_mails',
  text: /* sql */ `
    with due as materialized (
      select n.user_id, min(n.mail_at) as since from notifications n where n.mail_at <= now() group by n.user_id order by since limit ${BATCH}
    ), people as materialized (
      select u.user_id, u.email, u.display_name, u.status from users u where u.user_id in (select user_id from due)
      for no key update skip locked
    ), claimed as (
      update notifications n set mail_at = null from people p where n.user_id = p.user_id and n.mail_at is not null
      returning n.notification_id, n.user_id, n.team_id, n.item_id, n.message, n.more, n.read_at, n.created_at
    )
    select p.email, p.display_name as name, coalesce(sum(c.more + 1), 0)::int as total,
      coalesce((array_agg(coalesce(e.key || '-' || t.number || ': ', '') || c.message order by c.notification_id))[:${LISTED}], '{}') as messages
    from people p left join claimed c on c.user_id = p.user_id and c.read_at is null and p.status = 'active'
      and c.created_at > now() - interval '2 days'
      and (c.team_id is null or exists (select from memberships m where m.team_id = c.team_id and m.user_id = c.user_id))
      and not exists (select from tasks d where d.task_id = c.item_id and d.deleted_at is not null)
    left join tasks t on t.task_id = c.item_id left join teams e on e.team_id = t.team_id
    group by p.user_id, p.email, p.display_name`,
});

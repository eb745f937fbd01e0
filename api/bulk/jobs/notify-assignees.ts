import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { mailTime } from '../../work/notifications/mail-time.js';
import { insertNotices } from '../../work/notifications/write-notices.js';
import type { NoticeFact } from '../../work/notifications/write-notices.sql.js';

/** $1 = job id. Whose tasks an import has written, besides its importer's: members with the number of theirs, and of all. */
const statement = defineStatement({
  name: 'assignees_to_notify',
  text: /* sql */ `
    with written as materialized (
      select t.assigned_to, t.team_id from bulk_rows r join tasks t on t.task_id = r.item_id and t.deleted_at is null
      where r.job_id = $1 and r.entity = 'task' and r.outcome in ('created', 'updated')
    ), total as (select count(*)::int as count from written)
    select w.assigned_to as user_id, w.team_id, count(*)::int as own, (select count from total) as total, j.requested_by as actor_id,
      p.display_name as actor_name, u.notice_mail, u.preferences->>'timezone' as timezone
    from written w join bulk_jobs j on j.job_id = $1 join users p on p.user_id = j.requested_by
    join users u on u.user_id = w.assigned_to and u.status = 'active' join memberships m on m.team_id = w.team_id and m.user_id = w.assigned_to
    where w.assigned_to <> j.requested_by
    group by w.assigned_to, w.team_id, j.requested_by, p.display_name, u.notice_mail, u.preferences`,
});

/** $1 = group of notices, $2 = team id. */
const withdrawStatement = defineStatement({
  name: 'withdraw_import_notices',
  text: /* sql */ `
    delete from notifications n using memberships m
    where m.team_id = $2 and n.user_id = m.user_id and n.group_key = $1 and n.read_at is null`,
});

interface Share extends Record<string, unknown>, Pick<NoticeFact, 'user_id' | 'notice_mail' | 'timezone'> {
  team_id: string;
  own: number;
  total: number;
  actor_id: string;
  actor_name: string;
}

const groupOf = (jobId: string): string => `imported ${jobId}`;

const word = ({ actor_name, own, total }: Share): string =>
  total === 1
    ? `${actor_name} imported a task that is yours`
    : `${actor_name} imported ${total.toLocaleString('en-US')} tasks, ${own.toLocaleString('en-US')} ${own === 1 ? 'is' : 'are'} yours`;

/** Notifies each assignee once of the tasks that an import has written, in the transaction that ends it. */
export async function notifyAssignees({ db }: Pick<Context, 'db'>, jobId: string): Promise<void> {
  const now = new Date();
  const shares = await run<Share>(db, statement, [jobId]);
  const notices = shares.map((one) => {
    const { user_id, team_id, actor_id } = one;
    const mail_at = mailTime(one, now);
    return { kind: 'imported' as const, user_id, team_id, actor_id, message: word(one), group_key: groupOf(jobId), mail_at };
  });
  await insertNotices(db, notices);
}

/** Removes what nobody has read of an import that is undone. */
export async function withdrawImportNotices({ db }: Pick<Context, 'db'>, jobId: string, teamId: string): Promise<void> {
  await run(db, withdrawStatement, [groupOf(jobId), teamId]);
}

import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = user id. One count for each thing that the user loses, each from an index of the user's own rows. A team counts as without
 * another admin by the rule that the request itself applies.
 */
export const previewDeprovisionStatement = defineStatement({
  name: 'preview_deprovision',
  text: /* sql */ `
    select u.user_id, u.email, u.display_name, u.status,
      (select j.job_id from deprovision_jobs j where j.user_id = u.user_id) as job_id,
      (select count(*)::int from memberships m join teams t using (team_id)
        where m.user_id = u.user_id and t.deleted_at is null) as teams,
      array(select t.name from memberships m join teams t using (team_id)
        where m.user_id = u.user_id and m.role = 'admin' and t.deleted_at is null and not exists (
          select from memberships o join users p on p.user_id = o.user_id
          where o.team_id = m.team_id and o.user_id <> u.user_id and o.role = 'admin' and p.status <> 'deprovisioned')
        order by t.name limit 20) as teams_without_admin,
      (select count(*)::int from tasks t
        where t.assigned_to = u.user_id and t.deleted_at is null and t.status <> 'done' and not t.is_archived) as open_tasks,
      (select count(*)::int from automations a
        where a.created_by = u.user_id and a.deleted_at is null and a.is_active) as automations,
      (select count(*)::int from personal_access_tokens k
        where k.user_id = u.user_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())) as tokens,
      (select count(*)::int from sessions s
        where s.user_id = u.user_id and s.ended_at is null and s.expires_at > now()) as sessions,
      (select count(*)::int from integration_connections c where c.user_id = u.user_id) as connections
    from users u where u.user_id = $1`,
});

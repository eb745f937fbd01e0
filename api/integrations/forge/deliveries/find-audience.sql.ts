import { defineStatement } from '../../../../db/statement.js';

/**
 * $1 = repository, $2 = time of the delivery, $3 = the only team that it reaches, or null, $4 = delivery id, $5 = receipt id. `came_after`: the delivery
 * came after the binding. `already`: the team has had the same delivery, at an address of its own or by the operator's webhook.
 */
export const bindingsStatement = defineStatement({
  name: 'bindings_of_repository',
  text: /* sql */ `
    select r.binding_id, r.team_id, r.project_id, r.sync_issues, u.user_id, u.email, u.role, u.status,
      r.created_at <= $2::timestamptz as came_after,
      exists (select from forge_address_deliveries d join forge_repositories b using (binding_id)
        where d.delivery_id = $4 and d.receipt_id <> $5 and b.team_id = r.team_id and b.repo = r.repo and d.outcome in ('applied', 'failed')
          and d.outcome is distinct from 'duplicate' and d.outcome is distinct from 'refused')
      or ($3::uuid is not null and exists (select from forge_deliveries d
        where d.delivery_id = $4 and d.repo = r.repo and d.outcome in ('applied', 'failed') and d.outcome is distinct from 'duplicate'
          and d.received_at >= r.created_at)) as already
    from forge_repositories r
    join users u on u.user_id = r.created_by
    join teams t on t.team_id = r.team_id
    where r.repo = $1 and ($3::uuid is null or r.team_id = $3) and t.deleted_at is null order by r.created_at, r.binding_id`,
});

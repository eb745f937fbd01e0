import { defineStatement } from '../../../db/statement.js';

/** A repetition of a call within this time starts nothing. */
export const KEY_HOURS = 24;

const LIVE = /* sql */ `a.is_active and a.deleted_at is null and a.trigger_type = 'webhook' and (a.project_id is null or p.deleted_at is null)`;

/** $1 = hash of a token. The automation that it starts, if it is enabled and its creator may act. One look-up by an index. */
export const findHookStatement = defineStatement({
  name: 'find_automation_hook',
  text: /* sql */ `
    select h.automation_id, h.data_key, h.sealed_value from automation_hooks h join automations a using (automation_id)
    join users u on u.user_id = a.created_by and u.status = 'active' left join projects p using (project_id)
    where h.token_hash = $1 and ${LIVE}`,
});

/**
 * $1 = automation id. Locks it FOR SHARE as creating a run does, so a change of it or of its address waits for the call, or
 * comes before it.
 */
export const lockCalledStatement = defineStatement({
  name: 'lock_called_automation',
  text: /* sql */ `
    select a.automation_id, a.name, a.version, a.team_id, a.project_id, a.condition, a.enabled_by, a.created_by,
      case when p.project_id is not null
        then json_build_object('project_id', p.project_id, 'name', p.name, 'status', p.status) end as project
    from automations a left join projects p using (project_id)
    where a.automation_id = $1 and ${LIVE}
    for share of a`,
});

/** $1 = automation id, $2 = hash of the token. Counts the call; no row if the address has been replaced. */
export const countCallStatement = defineStatement({
  name: 'count_hook_call',
  text: /* sql */ `
    update automation_hooks set calls = calls + 1, last_call_at = now() where automation_id = $1 and token_hash = $2
    returning held_by`,
});

/** $1 = automation id, $2 = hash of the key, $3 = delivery id. No row if another call has used the key. */
export const claimCallStatement = defineStatement({
  name: 'claim_hook_call',
  text: /* sql */ `
    insert into automation_hook_calls as c (automation_id, key_hash, delivery_id) values ($1, $2, $3)
    on conflict (automation_id, key_hash) do update set delivery_id = excluded.delivery_id, called_at = now()
      where c.called_at < now() - interval '${KEY_HOURS} hours'
    returning delivery_id`,
});

/** $1 = automation id, $2 = hash of the key. */
export const firstCallStatement = defineStatement({
  name: 'first_hook_call',
  text: 'select delivery_id from automation_hook_calls where automation_id = $1 and key_hash = $2',
});

/** $1 = run id, $2 = team id or null, $3 = creator. How deep the run is that calls, and, if it is of the same owner, who is behind it. */
export const callingRunStatement = defineStatement({
  name: 'calling_run',
  text: /* sql */ `
    select r.depth, case when coalesce(r.team_id, r.creator_id) = coalesce($2::uuid, $3::uuid) then people_of_run(r.run_id) else '{}' end as people
    from automation_runs r where r.run_id = $1`,
});

/** $1 = automation id, $2 = reason. At most once in ten seconds, so that a flood of refused calls writes little. */
export const noteRefusalStatement = defineStatement({
  name: 'note_refused_call',
  text: /* sql */ `
    update automation_hooks set last_refused_at = now(), last_refusal = $2
    where automation_id = $1 and (last_refused_at is null or last_refused_at < now() - interval '10 seconds')`,
});

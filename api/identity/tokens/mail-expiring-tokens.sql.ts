import { defineStatement } from '../../../db/statement.js';

/** Owners notified per transaction. */
export const BATCH = 100;

/**
 * Selects tokens that expire within 7 days, or within one, and were not notified yet. The row stores the last notice, so each is
 * sent once. A token created with a shorter lifetime than the notice needs none.
 */
export const claimTokenNoticesStatement = defineStatement({
  name: 'claim_token_notices',
  text: /* sql */ `
    with due as (
      select t.token_id, n.days, u.email, u.display_name
      from personal_access_tokens t join users u using (user_id)
        cross join lateral (select case when t.expires_at <= now() + interval '1 day' then 1 else 7 end as days) n
      where t.revoked_at is null and t.expires_at > now() and t.expires_at <= now() + interval '7 days'
        and t.expires_at - t.created_at > make_interval(days => n.days) and coalesce(t.expiry_notice_days > n.days, true)
        and u.status = 'active'
      order by t.expires_at limit ${BATCH} for update of t skip locked
    )
    update personal_access_tokens t set expiry_notice_days = due.days from due where t.token_id = due.token_id
    returning t.name, t.prefix, t.expires_at, due.email, due.display_name`,
});

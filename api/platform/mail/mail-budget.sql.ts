import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = addresses, $2 = team id or empty, $3 = kind, $4 = emails of an address in an hour, $5 = those of one team. Counts an email to each
 * address and returns the addresses to which it may be sent. Rows are locked in the order of the addresses. `old` and `new` are the row
 * before and after.
 */
export const spendStatement = defineStatement({
  name: 'spend_mail_budget',
  text: /* sql */ `
    insert into mail_budgets as b (recipient, hour, sent, sent_by_team)
    select recipient, date_trunc('hour', now()), 1, jsonb_build_object($2::text, 1)
    from (select distinct unnest($1::text[]) as recipient order by 1) w
    on conflict (recipient, hour) do update set (sent, sent_by_team, held, held_by_kind) = (
      select b.sent + s.one, b.sent_by_team || jsonb_build_object($2::text, s.of_team + s.one),
        b.held + 1 - s.one, b.held_by_kind || case when s.one = 1 then '{}' else jsonb_build_object($3::text, s.of_kind + 1) end
      from (
        select of_team, of_kind, (b.sent < $4::int and of_team < $5::int)::int as one
        from (select coalesce((b.sent_by_team ->> $2::text)::int, 0) as of_team, coalesce((b.held_by_kind ->> $3::text)::int, 0) as of_kind) c
      ) s
    )
    returning recipient, new.sent > coalesce(old.sent, 0) as is_sent`,
});

/** $1 = row limit. Claims the hours that are over and held emails back, of active accounts. */
export const claimHeldStatement = defineStatement({
  name: 'claim_held_mails',
  text: /* sql */ `
    with due as (
      select recipient, hour from mail_budgets
      where held > 0 and digest_queued_at is null and hour <= now() - interval '1 hour'
      order by hour limit $1 for update skip locked
    ), claimed as (
      update mail_budgets b set digest_queued_at = now() from due
      where b.recipient = due.recipient and b.hour = due.hour returning b.recipient, b.held, b.held_by_kind
    )
    select c.recipient, u.display_name as name, c.held, c.held_by_kind
    from claimed c left join users u on u.email = c.recipient and u.status = 'active' order by c.recipient`,
});

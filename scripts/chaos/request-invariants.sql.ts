import type { Invariant } from './invariant.js';
import { CANARY } from './loads/request-load.js';
import { SECRET } from './world.js';

/** Tables that keep what people and programs are told of a request, or a copy of a write. */
const SAID = [
  'audit_entries',
  'audit_pending',
  'audit_rejected',
  'audit_stream',
  'activity',
  'outbox',
  'webhook_events',
  'webhook_queue',
  'webhook_deliveries',
  'notifications',
  'mails',
  'decision_log',
  'mcp_calls',
];

/** Conditions on change requests that hold whenever the system is idle. */
export const requestInvariants: readonly Invariant[] = [
  {
    name: 'requests_used_with_quorum',
    words:
      'What is approved or used has approvals of enough different people who are not behind it, for that very text; nothing with them waits',
    sql: /* sql */ `
      select format('request %s is %s with %s of %s approvals', r.request_id, r.status, a.count, r.required_approvals) as violation
      from change_requests r cross join lateral (
        select count(distinct d.user_id) from change_request_decisions d
        where d.request_id = r.request_id and d.revision = r.revision and d.request_hash = r.request_hash and d.decision = 'approved'
          and (r.allow_self or d.user_id <> all(r.self_ids))
      ) a
      where (r.status in ('approved', 'redeemed') and a.count < r.required_approvals)
        or (r.status = 'pending' and a.count >= r.required_approvals)`,
  },
  {
    name: 'requests_used_once',
    words:
      'A used request has exactly one entry of its use, which names its redemption, and one of its request; any other has no use',
    sql: /* sql */ `
      with entries as (
        select entity_id, count(*) filter (where action = 'redeem') as uses, count(*) filter (where action = 'create') as requests,
          max(details::jsonb->>'redemption_id') filter (where action = 'redeem') as redemption_id
        from audit_entries where feature = 'requests' and entity_type = 'change_request' and outcome = 'success' group by entity_id
      )
      select format('request %s is %s with %s uses and %s requests', r.request_id, r.status, coalesce(e.uses, 0), coalesce(e.requests, 0)) as violation
      from change_requests r left join entries e on e.entity_id = r.request_id::text
      where coalesce(e.uses, 0) <> (r.status = 'redeemed')::int or coalesce(e.requests, 0) <> 1
        or (e.redemption_id is not null and e.redemption_id is distinct from r.redemption_id::text)`,
  },
  {
    name: 'requests_end',
    words: 'No change request is open, and no report of one awaited, two minutes past its time',
    sql: /* sql */ `
      select format('request %s is %s, yet its time was over at %s', request_id, status, coalesce(use_until, expires_at)) as violation
      from change_requests
      where (status in ('pending', 'approved') and coalesce(use_until, expires_at) < clock_timestamp() - interval '2 minutes')
        or (status = 'redeemed' and outcome is null and outcome_due < clock_timestamp() - interval '2 minutes')`,
  },
];

/** Where the words of the load's requests may not be; only a load knows its words. $1 = the ledger (jsonb). */
const silent: Invariant = {
  name: 'acked_requests_silent',
  words: 'No argument, claim or output of a request is in an audit entry, an event, a webhook, a notification or a mail',
  sql: `${SAID.map(
    (table) => `select '${table}' as violation from ${table} t where t.*::text like '%${CANARY}%' and $1::jsonb is not null`,
  ).join(' union ')}`,
};

/** Where the value of the load's secret may not be. The receiver and the server behind the gateway say it in each answer. $1 = the ledger (jsonb). */
const secretKept: Invariant = {
  name: 'acked_secret_silent',
  words:
    'The value of a secret that Assent sends is in no request, result, tool, audit entry, event, webhook, notification or mail',
  sql: `${[...SAID, 'change_requests', 'change_request_results', 'mcp_upstreams', 'mcp_tools']
    .map((table) => `select '${table}' as violation from ${table} t where t.*::text like '%${SECRET}%' and $1::jsonb is not null`)
    .join(' union ')}`,
};

/** $1 = the ledger (jsonb). */
export const acknowledgedRequests: readonly Invariant[] = [
  {
    name: 'acked_uses_kept',
    words: 'Every acknowledged use of a request is the one in its row, with the outcome that was reported',
    sql: /* sql */ `
      select format('request %s is %s, used as %s with outcome %s', a.request_id, r.status, r.redemption_id, r.outcome) as violation
      from jsonb_to_recordset($1::jsonb->'requests') as a(request_id uuid, redemption_id uuid, outcome text)
      left join change_requests r using (request_id)
      where r.redemption_id is distinct from a.redemption_id or (a.outcome is not null and r.outcome is distinct from a.outcome)`,
  },
  {
    name: 'acked_approvals_kept',
    words: 'Every acknowledged approval of a request is kept',
    sql: /* sql */ `
      select format('request %s has %s of %s acknowledged approvals', a.request_id, d.count, count(*)) as violation
      from jsonb_to_recordset($1::jsonb->'approvals') as a(request_id uuid)
      cross join lateral (
        select count(*) from change_request_decisions d where d.request_id = a.request_id and d.decision = 'approved'
      ) d group by a.request_id, d.count having d.count < count(*)`,
  },
  {
    name: 'acked_performed_once',
    words: 'What Assent sends itself arrives at most once, only for an approved request, and did arrive if it succeeded',
    sql: /* sql */ `
      select format('request %s is %s with outcome %s and arrived %s times', p.request_id, r.status, r.outcome, p.arrivals) as violation
      from (
        select request_id, count(*) as arrivals from jsonb_to_recordset($1::jsonb->'performed') as a(request_id uuid) group by 1
      ) p left join change_requests r using (request_id)
      where p.arrivals > 1 or r.executor is distinct from 'assent' or r.status is distinct from 'redeemed' or r.outcome is null
      union all
      select format('request %s succeeded and never arrived', r.request_id) from change_requests r
      where r.executor = 'assent' and r.source <> 'gateway' and r.outcome = 'succeeded' and not exists (
        select from jsonb_to_recordset($1::jsonb->'performed') as a(request_id uuid) where a.request_id = r.request_id
      )`,
  },
  silent,
  secretKept,
];

import type { Invariant } from '../invariant.js';
import { ASKED, buildArguments, PASSED } from './recorder.js';

/** Calls of the ledger, calls that the server performed by id and tool, and requests for calls by the id in their arguments. $1 = the ledger (jsonb). */
const GIVEN = /* sql */ `
  with calls as (
    select * from jsonb_to_recordset($1::jsonb->'calls') as c(call_id text, tool text, sent int, "end" text, request_id uuid)
  ), acts as (
    select call_id, tool, count(*) as acts from jsonb_to_recordset($1::jsonb->'acts') as a(call_id text, tool text) group by 1, 2
  ), requests as (
    select canonical::jsonb #>> '{operations,0,arguments,call_id}' as call_id, request_id, status, outcome
    from change_requests where source = 'gateway'
  ), uses as (
    select call_id, count(*) filter (where status = 'redeemed' and outcome is not null) as uses,
      count(*) filter (where outcome = 'succeeded') as successes
    from requests group by 1
  )`;

/** The hash of the arguments of a call, as the gateway notes it. `id`: an expression of SQL. */
const hashOf = (id: string): string => {
  const [before, after] = JSON.stringify(buildArguments('%')).split('%');
  return `sha256(convert_to('assent.arguments.v1' || chr(10) || '${before}' || ${id} || '${after}', 'UTF8'))`;
};

/** What agents called through the gateway, against what the server behind it performed. $1 = the ledger (jsonb). */
export const acknowledgedCalls: readonly Invariant[] = [
  {
    name: 'acked_asks_act_once',
    words:
      'A call that people decide about is performed at most once for each approved request, and was performed if it succeeded',
    sql: /* sql */ `${GIVEN}
      select format('call %s was performed %s times, with %s used approvals and %s successes', call_id, coalesce(acts, 0),
        coalesce(uses, 0), coalesce(successes, 0)) as violation
      from (select * from acts where tool = '${ASKED}') a full join uses using (call_id)
      where coalesce(acts, 0) > coalesce(uses, 0) or coalesce(successes, 0) > coalesce(acts, 0)`,
  },
  {
    name: 'acked_asks_answered',
    words: 'A result that an agent got of such a call is kept with its request, which was used, and the call was performed',
    sql: /* sql */ `${GIVEN}
      select format('call %s was answered, performed %s times, and its requests are: %s', c.call_id, coalesce(a.acts, 0),
        (select string_agg(concat_ws(' ', r.request_id, r.status, r.outcome), ', ') from requests r where r.call_id = c.call_id)) as violation
      from calls c left join acts a using (call_id)
      where c.tool = '${ASKED}' and c."end" = 'answered' and (a.acts is null or not exists (
        select from requests r join change_request_results using (request_id)
        where r.call_id = c.call_id and r.request_id = coalesce(c.request_id, r.request_id) and r.status = 'redeemed'
          and r.outcome in ('succeeded', 'failed')
      ))`,
  },
  {
    name: 'refused_calls_rest',
    words: 'A request that was rejected, and one of which an agent was told that nothing was called, was never used',
    sql: /* sql */ `${GIVEN}, refused as (
        select request_id, 'rejected' as ending from jsonb_to_recordset($1::jsonb->'rejections') as r(request_id uuid)
        union all select request_id, 'nothing was called' from calls where "end" = 'nothing' and request_id is not null
      )
      select format('request %s: %s, yet it is %s with outcome %s', f.request_id, f.ending, coalesce(r.status, 'gone'), r.outcome) as violation
      from refused f left join change_requests r using (request_id)
      where r.redemption_id is not null or r.status is distinct from 'rejected' and (f.ending = 'rejected' or r.request_id is null)
      union all
      select format('call %s: nothing was called, yet it was performed %s times', c.call_id, a.acts)
      from calls c join acts a using (call_id) where c."end" = 'nothing' and a.acts > (
        select count(*) from requests r where r.call_id = c.call_id and r.request_id <> c.request_id and r.status = 'redeemed'
      )`,
  },
  {
    name: 'acked_passes_noted',
    words:
      'A call that passes through is performed at most as often as the agent sent it; an answered one was performed and is noted',
    sql: /* sql */ `${GIVEN}
      select format('call %s was sent %s times, performed %s times, and ended as %s', call_id, coalesce(c.sent, 0), coalesce(a.acts, 0), c."end")
        as violation
      from (select * from calls where tool = '${PASSED}') c full join (select * from acts where tool = '${PASSED}') a using (call_id)
      where coalesce(a.acts, 0) > coalesce(c.sent, 0) or (c."end" = 'answered' and (a.acts is null or not exists (
        select from mcp_calls m where m.arguments_hash = ${hashOf('c.call_id')} and m.result in ('answered', 'error')
      )))`,
  },
];

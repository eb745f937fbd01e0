import type { Statement } from '../../db/statement.js';

/** Days over which the deliveries spread: their retention. */
export const DAYS = 30;
/** Endpoints of each team: each event has as many deliveries. */
export const ENDPOINTS = 5;

/** $1 = team id, $2 = user id. Endpoints that receive nothing by themselves. */
export const endpointsStatement: Statement = {
  name: 'bench_endpoints',
  text: /* sql */ `
    insert into webhooks (team_id, url, events, is_active, data_key, sealed_value, secret_prefix, created_by)
    select $1::uuid, 'https://hooks.example.com/' || n, '{note.created}', true, '\\x00', '\\x00', 'whsec_xxxx', $2::uuid
    from generate_series(1, ${ENDPOINTS}) n`,
};

/**
 * $1 = first event, $2 = end of the events, $3 = all of them, $4 = teams, the largest first. Events over the last days with their deliveries, of
 * which one in 33 failed.
 */
export const fillStatement: Statement = {
  name: 'bench_fill_deliveries',
  text: /* sql */ `
    with events as (
      insert into webhook_events (event_id, team_id, event_type, body)
      select uuidv7(make_interval(secs => -${DAYS - 1} * 86400 * (1 - n::float8 / $3))), ($4::uuid[])[1 + floor(cardinality($4) * random() ^ 3)::int],
        'task.updated', '{"type":"task.updated","data":{"object":"' || repeat(md5(n::text), 20) || '"}}'
      from generate_series($1::bigint, $2::bigint - 1) n returning event_id, team_id, event_type
    )
    insert into webhook_deliveries (event_id, webhook_id, event_type, status, attempts)
    select e.event_id, w.webhook_id, e.event_type,
      case when random() < 0.03 then 'failed' else 'succeeded' end,
      '[{"at":"2026-11-20T10:00:00.000Z","status_code":200,"duration_ms":12,"error":null,"response":"ok"}]'
    from events e join webhooks w using (team_id)`,
};

/** $1 = endpoint id, $2 = rows. A queue that waits for an hour. */
export const queueStatement: Statement = {
  name: 'bench_fill_queue',
  text: /* sql */ `
    insert into webhook_queue (webhook_id, event_id, event_type, next_attempt_at)
    select $1::uuid, uuidv7(), 'task.updated', now() + interval '1 hour' from generate_series(1, $2::int)`,
};

import type { Statement } from '../../db/statement.js';

/** $1 = entries, $2 = months, $3 = teams. Evenly over the months, most of them of few teams; a third share their request with others. */
export const fillStatement: Statement = {
  name: 'bench_fill_entries',
  text: /* sql */ `
    with made as (
      select n, clock_timestamp() - (1 - n::float8 / $1) * make_interval(months => $2 - 1) as at from generate_series(1, $1::bigint) n
    ), ids as (
      select n, at, uuidv7(at - clock_timestamp()) as id, floor($3 * random() ^ 3)::int as team from made
    ), entries as (
      insert into audit_entries (audit_id, correlation_id, timestamp, team_id, user_id, user_email, actor_type, ip_address, user_agent, feature,
        action, severity, outcome, entity_type, entity_id, details)
      select id, case when n % 3 = 0 then lag(id) over (order by n) else id end, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
        ('00000000-0000-7000-8000-' || lpad(to_hex(team + 1), 12, '0'))::uuid, md5('user' || (team * 7 + n % 20))::uuid,
        'user' || n % 20 || '@demo.test', 'user', '10.0.0.' || n % 200, 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
        (array['tasks', 'comments', 'projects', 'automations'])[1 + n % 4], (array['create', 'update', 'update', 'delete'])[1 + n % 4],
        'LOW', 'success', 'task', md5('task' || n / 8), '{"changes":{"status":{"from":"todo","to":"done"}},"version":2}'
      from ids returning audit_id, team_id
    )
    insert into audit_pending (audit_id, chain) select audit_id, team_id from entries`,
};

/** Entries to look up, from all months. */
export const sampleStatement: Statement = {
  name: 'bench_sample_entries',
  text: 'select audit_id, correlation_id, team_id from audit_entries order by md5(audit_id::text) limit 500',
};

/** Statements on a table, with the columns of a sampled entry that are their parameters. */
export const measured = (table: string): Record<string, Statement & { takes: readonly string[] }> => ({
  insert: {
    name: `bench_insert_${table}`,
    takes: ['team_id'],
    text: /* sql */ `
      insert into ${table} (audit_id, correlation_id, timestamp, team_id, actor_type, feature, action, severity, outcome, entity_type, entity_id, details)
      select id, id, to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'), $1, 'user', 'tasks', 'update', 'LOW', 'success',
        'task', id::text, '{"changes":{"status":{"from":"todo","to":"done"}},"version":2}' from uuidv7() id`,
  },
  'newest 50 of a team': {
    name: `bench_team_${table}`,
    takes: ['team_id'],
    text: `select * from ${table} where team_id = $1 order by timestamp desc, audit_id desc limit 50`,
  },
  'by id': { name: `bench_id_${table}`, takes: ['audit_id'], text: `select * from ${table} where audit_id = $1` },
  'by correlation': {
    name: `bench_correlation_${table}`,
    takes: ['correlation_id'],
    text: `select * from ${table} where correlation_id = $1`,
  },
  'by correlation, within a day': {
    name: `bench_near_${table}`,
    takes: ['correlation_id'],
    text: /* sql */ `
      select * from ${table} where correlation_id = $1 and audit_id >= uuid_at(uuid_extract_timestamp($1) - interval '1 day')
        and audit_id < uuid_at(uuid_extract_timestamp($1) + interval '1 day')`,
  },
});

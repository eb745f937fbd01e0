import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { computeHash, PAT_PREFIX } from '../../../api/identity/auth/authenticate.js';

/** A team of the benchmark, with a token of its admin. */
export interface AuditTeam {
  team_id: string;
  token: string;
  /** Number of its entries. */
  entries: number;
}

/** Days over which the entries spread. */
const DAYS = 365;
const PEOPLE = 50;
/** Entries of one statement. */
const BATCH = 500_000;
/** Places of the largest team, from which each entry draws one. */
const PLACES = 10_000;

/** What happens in a team, with its share of 1,000 entries. */
const KINDS = /* sql */ `(values
  ('tasks', 'update', 'LOW', 'task', 420), ('tasks', 'create', 'LOW', 'task', 120), ('tasks', 'delete', 'LOW', 'task', 20),
  ('tasks', 'purge', 'MEDIUM', 'task', 2), ('comments', 'create', 'LOW', 'comment', 100), ('comments', 'update', 'LOW', 'comment', 20),
  ('projects', 'create', 'LOW', 'project', 5), ('projects', 'update', 'LOW', 'project', 20), ('notes', 'create', 'LOW', 'note', 20),
  ('notes', 'update', 'LOW', 'note', 40), ('files', 'create', 'LOW', 'file', 10), ('work_graph', 'create', 'LOW', 'relation', 40),
  ('work_graph', 'delete', 'LOW', 'relation', 10), ('work_graph', 'create', 'LOW', 'doc', 10),
  ('automations', 'execute', 'LOW', 'automation_run', 60), ('automations', 'create', 'MEDIUM', 'automation', 3),
  ('automations', 'update', 'MEDIUM', 'automation', 8), ('automations', 'toggle', 'MEDIUM', 'automation', 3),
  ('approvals', 'approve', 'MEDIUM', 'automation_run', 30), ('approvals', 'reject', 'MEDIUM', 'automation_run', 10),
  ('ai_agent', 'stage', 'LOW', 'agent_plan', 30), ('ai_agent', 'confirm', 'MEDIUM', 'agent_plan', 14),
  ('teams', 'change_role', 'HIGH', 'team', 1), ('secrets', 'update', 'HIGH', 'secret', 1), ('forge', 'create', 'MEDIUM', 'forge_repository', 1),
  ('audit', 'export', 'HIGH', 'audit_log', 1), ('forge', 'deny', 'CRITICAL', 'forge_webhook', 1)
) as kind(feature, action, severity, entity_type, share)`;

/** Creates the teams with an admin each. */
async function createTeams(db: Knex, count: number): Promise<AuditTeam[]> {
  const teams = Array.from({ length: count }, (_one, n) => {
    const token = `${PAT_PREFIX}bench-audit-${n}`;
    return { team_id: uuidv7(), user_id: uuidv7(), token, entries: 0 };
  });
  const avatar = 'https://bench.test/a.png';
  await db('users').insert(
    teams.map(({ user_id }, n) => ({
      user_id,
      email: `audit${n}@bench.test`,
      name: 'Bench',
      username: `audit${n}`,
      display_name: 'Bench',
      avatar,
    })),
  );
  await db('teams').insert(
    teams.map(({ team_id, user_id }, n) => ({ team_id, name: `Audit ${n}`, created_by: user_id, plan: 'scale' })),
  );
  await db('memberships').insert(teams.map(({ team_id, user_id }) => ({ team_id, user_id, role: 'admin' })));
  await db('personal_access_tokens').insert(
    teams.map(({ user_id, token }) => ({
      user_id,
      name: 'bench',
      scopes: ['admin:*'],
      token_hash: computeHash(token),
      prefix: token.slice(0, 12),
    })),
  );
  return teams;
}

/** Writes entries past the sealer, with ids and times over the last year. */
const FILL = /* sql */ `
  insert into audit_entries (audit_id, correlation_id, timestamp, team_id, user_id, user_email, actor_type, ip_address, user_agent, feature,
    action, severity, outcome, entity_type, entity_id, details)
  select made.id, made.id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), t.team_id, person.id, 'person@bench.test', 'user',
    case when r.address < 0.05 then '203.0.' || floor(r.address * 5120) || '.' || floor(r.entity * 256)
      else '10.0.' || get_byte(uuid_send(person.id), 15) || '.' || floor(1 + r.address * 3) end,
    'Mozilla/5.0 (X11; Linux x86_64)', k.feature, k.action, k.severity, 'success', k.entity_type,
    substr(t.team_id::text, 25) || '-k' || floor(r.entity * r.entity * 5000),
    '{"version": 3, "changes": {"status": {"to": "done", "from": "in_progress"}}}'
  from (
    select :start::timestamptz + make_interval(secs => n * :step::float8) as at, floor(random() * :teams::int) as team, floor(random() * :kinds::int) as kind, random() as person,
      random() as address, random() as entity from generate_series(:from::bigint, :to::bigint) n
  ) r
  cross join lateral (select (lpad(to_hex((extract(epoch from r.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
    || '8' || substr(md5(random()::text), 1, 15))::uuid as id) made
  join bench_teams t on t.place = r.team
  join bench_kinds k on k.place = r.kind
  cross join lateral (select md5(t.team_id::text || floor(r.person * r.person * r.person * ${PEOPLE}))::uuid as id) person`;

/** Links nothing, but has the shape of seals: the reads look up, and do not verify. */
const SEAL = /* sql */ `
  with placed as (
    select team_id, audit_id, row_number() over (partition by team_id order by timestamp, audit_id) as n from audit_entries
  )
  insert into audit_seals (chain, sequence, audit_id, prev_hash, entry_hash)
  select team_id, n, audit_id, sha256(convert_to(team_id::text || n - 1, 'UTF8')), sha256(convert_to(team_id::text || n, 'UTF8'))
  from placed order by n`;
const HEADS = /* sql */ `
  insert into audit_heads (chain, sequence, entry_hash)
  select chain, max(sequence), sha256(convert_to(chain::text || max(sequence), 'UTF8')) from audit_seals group by chain`;

/** What the sealer would have counted. */
const COUNTS = [
  /* sql */ `insert into audit_counted (chain, sequence) select chain, sequence from audit_heads`,
  /* sql */ `insert into audit_kind_counts (chain, date, feature, action, severity, count)
    select team_id, left(timestamp, 10), feature, action, severity, count(*) from audit_entries group by 1, 2, 3, 4, 5`,
  /* sql */ `insert into audit_user_counts (chain, date, user_id, count)
    select team_id, left(timestamp, 10), user_id, count(*) from audit_entries group by 1, 2, 3`,
];

/** Drops the secondary indexes of the entries; returns the statements that create them again. An index built at the end takes a tenth. */
async function dropIndexes(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string; definition: string }[] }>(/* sql */ `
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = 'audit_entries'::regclass and not indisprimary`);
  for (const { name } of rows) await db.raw(`drop index ${name}`);
  return rows.map(({ definition }) => definition.replace(' ON ONLY ', ' ON '));
}

/** Fills the log with entries over a year: the n-th team has 1/n of those of the first, as sizes of teams go. Returns the teams. */
export async function fillAuditLog(db: Knex, total: number, teamCount: number): Promise<AuditTeam[]> {
  const start = new Date(Date.now() - DAYS * 86_400_000);
  await db.raw(
    "select make_partition('audit_entries', date_trunc('month', now() at time zone 'UTC') - make_interval(months => n), 0) from generate_series(1, 12) n",
  );
  const indexes = await dropIndexes(db);
  const teams = await createTeams(db, teamCount);
  await db.raw(
    /* sql */ `create unlogged table bench_teams as select row_number() over () - 1 as place, team_id
      from unnest(?::uuid[]) with ordinality as t(team_id, n) cross join lateral generate_series(1, ${PLACES} / n)`,
    [teams.map(({ team_id }) => team_id)],
  );
  await db.raw(/* sql */ `create unlogged table bench_kinds as select row_number() over () - 1 as place, feature, action, severity, entity_type
    from ${KINDS} cross join lateral generate_series(1, share)`);
  await db.raw(
    'insert into audit_kinds select distinct feature, action, severity, entity_type from bench_kinds on conflict do nothing',
  );
  await db.raw('analyze bench_teams, bench_kinds');
  const placesIn = async (table: string) => Number((await db(table).count({ places: '*' }).first())?.['places']);
  const places = { teams: await placesIn('bench_teams'), kinds: await placesIn('bench_kinds') };
  const step = (DAYS * 86_400) / total;
  for (let from = 0; from < total; from += BATCH)
    await db.raw(FILL, { start: start.toISOString(), step, ...places, from, to: Math.min(from + BATCH, total) - 1 });
  await db.raw(SEAL);
  await db.raw(HEADS);
  for (const counts of COUNTS) await db.raw(counts);
  for (const index of indexes) await db.raw(index);
  await db.raw(
    'vacuum (analyze) audit_entries, audit_seals, audit_heads, audit_kinds, audit_counted, audit_kind_counts, audit_user_counts',
  );
  const counts = await db('audit_heads').select<{ chain: string; sequence: number }[]>('chain', 'sequence');
  const entriesByTeam = new Map(counts.map(({ chain, sequence }) => [chain, Number(sequence)]));
  return teams.map(({ team_id, token }) => ({ team_id, token, entries: entriesByTeam.get(team_id) ?? 0 }));
}

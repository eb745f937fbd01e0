import type { Knex } from 'knex';
import type { Break } from './break.js';

const TABLES = ['audit_entries', 'audit_seals', 'audit_pending', 'audit_heads', 'audit_rejected'];
const TRIGGERS = ['audit_entries', 'audit_seals'].flatMap((table) => [
  `CREATE TRIGGER ${table}_append_only BEFORE DELETE OR UPDATE ON public.${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
  `CREATE TRIGGER ${table}_keep BEFORE TRUNCATE ON public.${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
]);
/** One constraint each: table and columns. */
const KEYS = [
  'audit_entries PRIMARY KEY (audit_id)',
  'audit_seals PRIMARY KEY (chain, sequence)',
  'audit_seals UNIQUE (audit_id)',
];
const REFUSE_CHANGE = `begin raise exception '% is append-only', tg_table_name using errcode = '42501'; end`;

/** $1 = tables, $2 = expected triggers, $3 = keys, $4 = body of the triggers' function. */
const FIND_CHANGED = /* sql */ `
with tables as (select c.oid, c.relname, c.relrowsecurity from pg_class c where c.oid = any(?::regclass[])),
triggers as (
  select pg_get_triggerdef(t.oid) as definition, t.tgenabled in ('O', 'A') as enabled
  from pg_trigger t join tables on tables.oid = t.tgrelid where not t.tgisinternal
),
keys as (
  select tables.relname || ' ' || pg_get_constraintdef(k.oid) as definition
  from pg_constraint k join tables on tables.oid = k.conrelid join pg_index i on i.indexrelid = k.conindid
  where i.indisunique and i.indisvalid and i.indisready
)
select 'missing or disabled: ' || wanted as detail from unnest(?::text[]) wanted
  where wanted not in (select definition from triggers where enabled)
union all select 'not part of the product: ' || definition from triggers where definition <> all(?::text[])
union all select 'missing: ' || wanted from unnest(?::text[]) wanted where wanted not in (select definition from keys)
union all select 'not part of the product: rule ' || r.rulename || ' on ' || tables.relname
  from pg_rewrite r join tables on tables.oid = r.ev_class
union all select 'not part of the product: row security on ' || relname from tables where relrowsecurity
union all select 'changed: function refuse_change()' where not exists (
  select from pg_proc where oid = to_regproc('refuse_change') and trim(regexp_replace(prosrc, '\\s+', ' ', 'g')) = ?)`;

/**
 * Compares the append-only guards with the declarations of the migrations. Sees the current state only: a trigger disabled and restored is
 * detected by the changes made in between.
 */
export async function verifyGuards(db: Knex): Promise<Break[]> {
  const { rows } = await db.raw<{ rows: { detail: string }[] }>(FIND_CHANGED, [TABLES, TRIGGERS, TRIGGERS, KEYS, REFUSE_CHANGE]);
  return rows.map(({ detail }) => ({ kind: 'guard_changed', chain: null, sequence: null, audit_id: null, detail }));
}

import type { Statement } from '../../db/statement.js';

/** $1 = tables, $2 = expected triggers, $3 = keys, $4 = body of the triggers' function. */
export const findChangedGuardsStatement: Statement = {
  name: 'find_changed_guards',
  text: /* sql */ `
with tables as (select c.oid, c.relname, c.relrowsecurity from pg_class c where c.oid = any($1::text[]::regclass[])),
triggers as (
  select pg_get_triggerdef(t.oid) as definition, t.tgenabled in ('O', 'A') as enabled
  from pg_trigger t join tables on tables.oid = t.tgrelid where not t.tgisinternal
),
keys as (
  select tables.relname || ' ' || pg_get_constraintdef(k.oid) as definition
  from pg_constraint k join tables on tables.oid = k.conrelid join pg_index i on i.indexrelid = k.conindid
  where i.indisunique and i.indisvalid and i.indisready
)
select 'missing or disabled: ' || wanted as detail from unnest($2::text[]) wanted
  where wanted not in (select definition from triggers where enabled)
union all select 'not part of the product: ' || definition from triggers where definition <> all($2::text[])
union all select 'missing: ' || wanted from unnest($3::text[]) wanted where wanted not in (select definition from keys)
union all select 'not part of the product: rule ' || r.rulename || ' on ' || tables.relname
  from pg_rewrite r join tables on tables.oid = r.ev_class
union all select 'not part of the product: row security on ' || relname from tables where relrowsecurity
union all select 'changed: function refuse_change()' where not exists (
  select from pg_proc where oid = to_regproc('refuse_change') and trim(regexp_replace(prosrc, '\\s+', ' ', 'g')) = $4)`,
};

import type { Knex } from 'knex';
import { run } from '../../db/statement.js';
import type { Break } from './break.js';
import { findChangedGuardsStatement } from './verify-guards.sql.js';

const TABLES = ['audit_entries', 'audit_seals', 'audit_pending', 'audit_heads', 'audit_rejected', 'audit_archives'];
/** Of each partition too. */
const TRIGGERS = ['audit_entries', 'audit_seals', 'audit_archives'].flatMap((table) => [
  `CREATE TRIGGER ${table}_append_only BEFORE DELETE OR UPDATE ON public.${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
  `CREATE TRIGGER ${table}_keep BEFORE TRUNCATE ON public.${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
]);
/** One constraint each: table and columns; of each partition too. */
const KEYS = [
  'audit_entries PRIMARY KEY (audit_id)',
  'audit_seals PRIMARY KEY (chain, sequence)',
  'audit_seals UNIQUE (audit_id)',
];
const REFUSE_CHANGE = `begin raise exception '% is append-only', tg_table_name using errcode = '42501'; end`;

/**
 * Compares the append-only guards with the declarations of the migrations. Sees the current state only: a trigger disabled and restored is
 * detected by the changes made in between.
 */
export async function verifyGuards(db: Knex): Promise<Break[]> {
  const rows = await run<{ detail: string }>(db, findChangedGuardsStatement, [TABLES, TRIGGERS, KEYS, REFUSE_CHANGE]);
  return rows.map(({ detail }) => ({ kind: 'guard_changed', chain: null, sequence: null, audit_id: null, detail }));
}

import type { Knex } from 'knex';
import { defineStatement, run, type Statement } from '../../db/statement.js';
import { type Break, type BreakKind, MAX_BREAKS } from './break.js';
import { INSTANCE_CHAIN } from './chain.js';

interface RowFinding extends Record<string, unknown> {
  chain: string;
  audit_id: string;
  sequence: number | null;
  detail: string;
}

/** A check over whole tables that returns its violations, oldest first. */
interface RowCheck {
  kind: BreakKind;
  statement: Statement;
}

const check = (kind: BreakKind, text: string): RowCheck => ({
  kind,
  statement: defineStatement({ name: `find_${kind}`, text: `${text} limit ${MAX_BREAKS}` }),
});

const CHAIN_OF_ENTRY = `coalesce(e.team_id, '${INSTANCE_CHAIN}')`;
const ENTRY_BY_ID = `(select * from audit_entries e where e.audit_id = x.audit_id order by e.timestamp limit 1) e`;

const rejected = (kind: BreakKind, reason: string, detail: string): RowCheck =>
  check(
    kind,
    /* sql */ `
select chain, audit_id, null::bigint as sequence, ${detail} || ' (set aside ' || to_char(rejected_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ')' as detail
from audit_rejected x where reason = '${reason}' order by rejected_at, audit_id`,
  );

/** Each is linear: one scan of its tables and one hash. */
const ROW_CHECKS: RowCheck[] = [
  check(
    'entry_unsealed',
    /* sql */ `
select ${CHAIN_OF_ENTRY} as chain, e.audit_id, null::bigint as sequence,
  'The entry (' || e.timestamp || ', ' || e.action || ' ' || e.entity_type || ') is neither sealed nor pending' as detail
from audit_entries e
where not exists (select from audit_seals s where s.audit_id = e.audit_id)
  and not exists (select from audit_pending u where u.audit_id = e.audit_id)
order by e.timestamp, e.audit_id`,
  ),
  check(
    'entry_doubled',
    /* sql */ `
select ${CHAIN_OF_ENTRY} as chain, x.audit_id, null::bigint as sequence, x.times || ' entries have this id' as detail
from (select audit_id, count(*) as times from audit_entries group by audit_id having count(*) > 1) x
cross join lateral ${ENTRY_BY_ID} order by x.audit_id`,
  ),
  check(
    'seal_doubled',
    /* sql */ `
select min(chain::text)::uuid as chain, audit_id, min(sequence) as sequence,
  'Sealed ' || count(*) || ' times: ' || string_agg(chain || ' ' || sequence, ', ' order by chain, sequence) as detail
from audit_seals group by audit_id having count(*) > 1 order by audit_id`,
  ),
  check(
    'chain_forked',
    /* sql */ `
select chain, (array_agg(audit_id order by audit_id))[1] as audit_id, sequence, count(*) || ' seals have this sequence' as detail
from audit_seals group by chain, sequence having count(*) > 1 order by chain, sequence`,
  ),
  rejected('pending_orphan', 'entry_missing', `'The row was pending, and its entry does not exist'`),
  rejected('pending_misplaced', 'other_chain', `'The row was pending for this chain, and its entry belongs to another'`),
  rejected('pending_sealed', 'already_sealed', `'The row was pending, and its entry was sealed already'`),
];

const scanTablesStatement = defineStatement({
  name: 'scan_audit_tables',
  text: /* sql */ `
    select set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
      set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
});

/**
 * Finds entries, seals and pending rows that a walk along the chains cannot reach. Scans the tables themselves, because their owner can
 * tamper with indexes. `db` is one snapshot.
 */
export async function verifyRows(db: Knex): Promise<Break[]> {
  await run(db, scanTablesStatement, []);
  const breaks: Break[] = [];
  for (const { kind, statement } of ROW_CHECKS) {
    const rows = await run<RowFinding>(db, statement, []);
    breaks.push(...rows.map(({ chain, audit_id, sequence, detail }) => ({ kind, chain, sequence, audit_id, detail })));
  }
  return breaks;
}

const pendingChainsStatement = defineStatement({
  name: 'first_pending_of_chains',
  text: `select distinct on (chain) chain, audit_id from audit_pending order by chain, audit_id limit ${MAX_BREAKS}`,
});

/** Returns the first pending row of each of the first chains that have any. `db` is one snapshot. */
export const readPendingChains = (db: Knex): Promise<Pick<RowFinding, 'chain' | 'audit_id'>[]> =>
  run<Pick<RowFinding, 'chain' | 'audit_id'>>(db, pendingChainsStatement, []);

/** $1 = chains, $2 = audit ids: one pending row each. */
const stuckStatement = defineStatement({
  name: 'find_stuck_entries',
  text: /* sql */ `
    select u.chain, u.audit_id, null::bigint as sequence, 'The entry' || coalesce(' of ' || e.timestamp, '') || ' is still pending, with ' || (
      select count(*) - 1 from (select from audit_pending o where o.chain = u.chain limit 10001) o) || ' others of its chain' as detail
    from unnest($1::uuid[], $2::uuid[]) p(chain, audit_id) join audit_pending u using (chain, audit_id) left join audit_entries e using (audit_id)
    order by u.chain`,
});

/** Returns those of `pending` that are still pending; sealing skips invalid rows only. */
export async function findStuck(db: Knex, pending: Pick<RowFinding, 'chain' | 'audit_id'>[]): Promise<Break[]> {
  const rows = await run<RowFinding>(db, stuckStatement, [
    pending.map(({ chain }) => chain),
    pending.map(({ audit_id }) => audit_id),
  ]);
  return rows.map((row) => ({ kind: 'entry_stuck', ...row }));
}

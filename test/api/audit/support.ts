import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { GENESIS, linkEntry, type StoredEntry } from '../../../api/audit/chain.js';
import type { Services } from '../../../api/platform/context.js';
import { createLogger } from '../../../api/platform/telemetry/log.js';
import { testConfig } from '../../support/app.js';
import { cloneDatabase, type TestDatabase } from '../../support/database.js';

export interface AuditLog extends Services {
  database: TestDatabase;
  close: () => Promise<void>;
}

/** A database without entries, and what tells later whether it can be emptied for the next log. */
interface Blank {
  database: TestDatabase;
  /** Its triggers, keys, functions, rules and row security. */
  shape: string;
  /** Tables that the migrations fill. */
  filled: string[];
}

const blanks: Blank[] = [];
afterAll(() => Promise.all(blanks.splice(0).map(({ database }) => database.drop())));

const readShape = async (db: Knex): Promise<string> =>
  (
    await db.raw<{ rows: { shape: string }[] }>(/* sql */ `
select md5(concat((select string_agg(t::text, ',' order by oid) from pg_trigger t),
  (select string_agg(c::text, ',' order by oid) from pg_constraint c),
  (select string_agg(p::text, ',' order by oid) from pg_proc p where pronamespace = 'public'::regnamespace),
  (select string_agg(concat(ev_class, ev_type, ev_enabled), ',' order by oid) from pg_rewrite),
  (select string_agg(concat(relname, relkind, relrowsecurity), ',' order by oid) from pg_class
    where relnamespace = 'public'::regnamespace))) as shape`)
  ).rows[0]?.shape as string;

/** Tables with rows, or with room for some. */
const filledTables = (db: Knex): Promise<string[]> =>
  db('pg_class')
    .whereRaw("relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0")
    .pluck<string[]>('relname');

async function openBlank(): Promise<Blank> {
  const reused = blanks.pop();
  if (reused) return reused;
  // Hundreds of writes at once wait for eight connections.
  const database = await cloneDatabase(60_000);
  return { database, shape: await readShape(database.db), filled: await filledTables(database.db) };
}

/** Empties a database for the next log, which takes a tenth of what a new one costs; drops it if a test changed its schema. */
async function giveBack(blank: Blank): Promise<void> {
  const { database, shape, filled } = blank;
  if ((await readShape(database.db)) !== shape) return database.drop();
  const written = (await filledTables(database.db)).filter((table) => !filled.includes(table));
  if (written.length > 0) await tamper(database.db, `truncate ${written.join(', ')} cascade`);
  blanks.push(blank);
}

/** An empty log: a database and a data directory of its own. */
export async function openAuditLog(): Promise<AuditLog> {
  const blank = await openBlank();
  const { database } = blank;
  const dataDir = mkdtempSync(join(tmpdir(), 'assent-test-audit-'));
  const config = testConfig(database.url, dataDir);
  return {
    db: database.db,
    config,
    log: createLogger(config, 'script'),
    notifyRelay: () => undefined,
    database,
    async close() {
      await giveBack(blank);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** `count` audited changes of a team, or of the instance, each with the trace that the product leaves; one transaction. */
export async function writeEntries(db: Knex, team_id: string | null, count = 1): Promise<void> {
  await db.raw(
    /* sql */ `
select record_change(
  jsonb_build_object('request_id', id, 'correlation_id', id, 'actor_type', 'user', 'user_id', uuidv7(), 'email', 'ada@demo.test',
    'ip', '10.0.0.7', 'user_agent', ''),
  jsonb_build_object('team_id', ?::uuid, 'feature', 'tasks', 'action', 'update', 'entity_type', 'task', 'entity_id', 'k' || n,
    'details', jsonb_build_object('title', 'Zoë ' || n)))
from (select n, uuidv7() as id from generate_series(1, ?::int) n) made`,
    [team_id, count],
  );
}

export const newTeamId = (): string => uuidv7();

/** Simulates a user with full database rights: no trigger or foreign key applies. */
export async function tamper(db: Knex, ...statements: (string | [sql: string, ...values: Knex.RawBinding[]])[]): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    for (const statement of statements) {
      const [sql, ...values] = typeof statement === 'string' ? [statement] : statement;
      await trx.raw(sql, values);
    }
  });
}

/** Removes the entries of a chain from a sequence on with their seals, and moves its head back. */
export const cutTail = (db: Knex, team: string, from: number): Promise<void> =>
  tamper(
    db,
    [
      'delete from audit_entries where audit_id = any(array(select audit_id from audit_seals where chain = ? and sequence >= ?))',
      team,
      from,
    ],
    ['delete from audit_seals where chain = ? and sequence >= ?', team, from],
    [
      'update audit_heads h set (sequence, entry_hash) = (select sequence, entry_hash from audit_seals s where s.chain = h.chain order by 1 desc limit 1) where chain = ?',
      team,
    ],
  );

/** Links the team's chain anew over what its entries are now, head included: what a thorough forger does. */
export async function rewriteChain(db: Knex, team: string): Promise<void> {
  const entries = (await db('audit_entries').where({ team_id: team }).orderBy(['timestamp', 'audit_id'])) as StoredEntry[];
  let last = GENESIS;
  const seals = entries.map((entry) => {
    const previous = last;
    last = linkEntry(entry, previous);
    return [
      'insert into audit_seals values (?, ?, ?, ?, ?)',
      team,
      last.sequence,
      entry.audit_id as string,
      previous.hash,
      last.hash,
    ] as [string, ...Knex.RawBinding[]];
  });
  await tamper(db, ['delete from audit_seals where chain = ?', team], ...seals, [
    'update audit_heads set sequence = ?, entry_hash = ? where chain = ?',
    last.sequence,
    last.hash,
    team,
  ]);
}

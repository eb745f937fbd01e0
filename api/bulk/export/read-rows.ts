import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { Entity } from '../rules.js';
import { countText, declareText } from './sources.sql.js';
import type { Lines } from './write-rows.js';

/** Rows that one round trip returns: about a megabyte. */
const FETCHED = 2_000;
/** Maximum age of the snapshot, ms: an older one would keep vacuum from removing what others have deleted. */
export const MAX_SNAPSHOT_MS = 600_000;

/** What an export is about. */
export interface Scope {
  teamId: string;
  /** Null for the whole team. */
  projectIds: string[] | null;
  entities: readonly Entity[];
}

const fetchStatement = { name: 'fetch_export_rows', text: `fetch ${FETCHED} from export_rows` };
const closeStatement = { name: 'close_export_rows', text: 'close export_rows' };
const limitStatement = {
  name: 'limit_export',
  text: `select set_config('transaction_timeout', '${MAX_SNAPSHOT_MS}', true), set_config('jit', 'off', true)`,
};

async function countRows(trx: Knex, { teamId, projectIds, entities }: Scope): Promise<number> {
  let total = 0;
  for (const entity of entities) {
    const [counted] = await run<{ rows: number }>(trx, { name: '', text: countText(entity) }, [teamId, projectIds]);
    total += counted?.rows ?? 0;
  }
  return total;
}

async function* readEntity(trx: Knex, entity: Entity, values: unknown[]): AsyncGenerator<Lines> {
  await run(trx, { name: '', text: declareText(entity) }, values);
  for (let full = true; full; ) {
    const rows = await run<{ line: string }>(trx, fetchStatement, []);
    if (rows.length > 0) yield rows.map(({ line }) => line);
    full = rows.length === FETCHED;
  }
  await run(trx, closeStatement, []);
}

/**
 * Reads the rows of an export from one snapshot, through a cursor: nothing is fetched before what was fetched last is taken. `counted` gets
 * their number first. The transaction ends with the generator.
 * @throws any error of `pg`
 */
export async function* readRows(db: Knex, scope: Scope, counted: (total: number) => void): AsyncGenerator<Lines> {
  const trx = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  try {
    await run(trx, limitStatement, []);
    counted(await countRows(trx, scope));
    for (const entity of scope.entities) yield* readEntity(trx, entity, [scope.teamId, scope.projectIds]);
  } finally {
    // A broken connection has ended it already.
    await trx.rollback().catch(() => undefined);
  }
}

import type { Knex } from 'knex';
import { run, runEach } from '../../../db/statement.js';
import type { Entity } from '../rules.js';
import { LineBuffers } from './line-buffers.js';
import { countText, declareText } from './sources.sql.js';
import type { Rows } from './write-rows.js';

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

async function* readEntity(trx: Knex, entity: Entity, values: unknown[]): AsyncGenerator<Rows> {
  await run(trx, { name: '', text: declareText(entity) }, values);
  const lines = new LineBuffers();
  for (let count = FETCHED; count === FETCHED; ) {
    count = await runEach(trx, fetchStatement, [], ([line]) => lines.add(line as string));
    if (count > 0) yield { count, bytes: lines.take() };
  }
  await run(trx, closeStatement, []);
}

/**
 * Reads the rows of an export from one snapshot, through a cursor: nothing is fetched before what was fetched last is taken. `counted` gets
 * their number first. The transaction ends with the generator.
 * @throws any error of `pg`
 */
export async function* readRows(db: Knex, scope: Scope, counted: (total: number) => void): AsyncGenerator<Rows> {
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

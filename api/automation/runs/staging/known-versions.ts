import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';

/** $1 = run id, $2 = gate index, $3 = versions by id (jsonb). The first approval counts: a later approver has not seen what was before. */
const knowStatement = defineStatement({
  name: 'know_versions',
  text: 'update gates set known_versions = coalesce(known_versions, $3::jsonb) where run_id = $1 and gate_index = $2',
});

/** $1 = run id, $2 = gate index, $3 = versions by id (jsonb). */
const keepStatement = defineStatement({
  name: 'keep_versions',
  text: 'update gates set known_versions = $3::jsonb where run_id = $1 and gate_index = $2',
});

type Gate = readonly [runId: string, gateIndex: number];

const toJson = (versions: ReadonlyMap<string, number>): string => JSON.stringify(Object.fromEntries(versions));

/** Stores the versions of a gate's targets at the first yes, for a gate that asks again. */
export const knowVersions = async (db: Knex, gate: Gate, versions: ReadonlyMap<string, number>): Promise<void> => {
  await run(db, knowStatement, [...gate, toJson(versions)]);
};

/** Stores them after an action of the run itself, so that its own changes do not count. The caller has locked the targets. */
export const keepVersions = async (db: Knex, gate: Gate, versions: ReadonlyMap<string, number>): Promise<void> => {
  await run(db, keepStatement, [...gate, toJson(versions)]);
};

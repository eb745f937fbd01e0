import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { ExportedChain } from '../export-proof.js';
import { headsStatement } from './entries.sql.js';

/** The end of one team's chain. */
export type ChainHead = Omit<ExportedChain, 'first_sequence'>;

/** Reads the head of each team's chain, in the order of the teams. */
export async function readHeads(db: Knex, teams: string[]): Promise<ChainHead[]> {
  const rows = await run<{ chain: string; sequence: number; entry_hash: Buffer }>(db, headsStatement, [teams]);
  return rows.map(({ chain, sequence, entry_hash }) => ({
    team_id: chain,
    last_sequence: sequence,
    head_hash: entry_hash.toString('hex'),
  }));
}

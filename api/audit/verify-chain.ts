import { defineStatement, run } from '../../db/statement.js';
import { ArchivedEntries, findUnrecorded, listArchives } from './archive/archived-entries.js';
import type { Services } from '../platform/context.js';
import type { Break, BreakKind } from './break.js';
import { checkpointFile } from './checkpoint.js';
import { type SealReport, sealEntries } from './seal-entries.js';
import { type PublicKeys, trustedKeys } from './signing-keys.js';
import { compareWithWitness, verifyCheckpoints } from './verify-checkpoints.js';
import { verifyGuards } from './verify-guards.js';
import { findStuck, readPendingChains, verifyRows } from './verify-rows.js';
import { type SealsReport, verifySeals } from './verify-seals.js';

export interface VerifyOptions {
  /** Trusted keys; default: those of the settings. */
  keys?: PublicKeys;
  /** An earlier copy of the checkpoints, stored elsewhere. */
  witness?: string;
  /** Folder with the files of archived months. Without it only their seals are verified. */
  archive?: string;
}

export interface AuditReport extends Omit<SealsReport, 'breaks'> {
  /** Archived months. */
  months_archived: number;
  /** Number of checkpoint lines read. */
  checkpoints: number;
  /** Time of the newest checkpoint. */
  newest_checkpoint: string | null;
  /** Defects, at most 20 per check; empty if the log is intact. */
  breaks: Break[];
}

const unlimitedStatement = defineStatement({ name: 'verify_without_time_limit', text: 'set local statement_timeout = 0' });
/** Neither of the two takes a snapshot, so all that follows sees what was committed before the lock. */
const keepMonthsStatement = defineStatement({
  name: 'verify_keeps_months',
  text: 'lock table audit_entries in access share mode',
});

const noEntry = (kind: BreakKind, chain: string | null, detail: string): Break => ({
  kind,
  chain,
  sequence: null,
  audit_id: null,
  detail,
});

/** Seals pending entries and reports those that could not be sealed. An unsealed log can still be verified. */
async function sealPending({ db }: Pick<Services, 'db'>): Promise<Break[]> {
  let report: SealReport;
  try {
    report = await sealEntries(db);
  } catch (error) {
    return [noEntry('sealing_blocked', null, (error as Error).message)];
  }
  return [
    ...report.refused.map(({ chain, reason }) => noEntry('sealing_blocked', chain, reason)),
    ...report.busy.map((chain) => noEntry('sealing_blocked', chain, 'Another session holds the lock of this chain (pg_locks)')),
  ];
}

/**
 * Seals pending entries, then verifies the log in one snapshot: entries against hashes, hashes against their predecessors, heads, rows
 * written by other programs, the append-only guards, the signed checkpoints, archives, and a witness's copy. Writers and sealers may run
 * concurrently.
 * @throws Error if the keys cannot be read, or the witness's copy is missing or empty
 */
export async function verifyChain(
  { db, config }: Pick<Services, 'db' | 'config'>,
  { keys = trustedKeys(config), witness, archive }: VerifyOptions = {},
): Promise<AuditReport> {
  await sealPending({ db });
  const snapshot = await db.transaction(
    async (trx) => {
      await run(trx, unlimitedStatement, []);
      // No month may be archived meanwhile.
      await run(trx, keepMonthsStatement, []);
      const archives = await listArchives(trx);
      const seals = await verifySeals(trx, new ArchivedEntries(archives, archive));
      const unrecorded = await findUnrecorded(trx, archives);
      const rows = [...(await verifyRows(trx)), ...unrecorded];
      return { seals, archives, pending: await readPendingChains(trx), guards: await verifyGuards(trx), rows };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
  // Seals entries committed since the first pass; entries still pending after that were skipped twice.
  const stuck = snapshot.pending.length > 0 ? [...(await sealPending({ db })), ...(await findStuck(db, snapshot.pending))] : [];
  // After the snapshot: a checkpoint may be newer, and is compared with the chain as it is then.
  const file = checkpointFile(config);
  const local = await verifyCheckpoints(db, file, keys);
  const kept = witness === undefined ? null : await verifyCheckpoints(db, witness, keys);
  if (kept?.checkpoints === 0) throw new Error(`${witness} is missing or holds no checkpoint`);
  const compared = witness === undefined ? null : await compareWithWitness(file, witness);
  const breaks = [...snapshot.seals.breaks, ...snapshot.rows, ...stuck, ...snapshot.guards];
  return {
    chains: snapshot.seals.chains,
    entries: snapshot.seals.entries,
    archived: snapshot.seals.archived,
    months_archived: snapshot.archives.length,
    checkpoints: local.checkpoints,
    newest_checkpoint: local.newest,
    breaks: [...breaks, ...[local.broken, kept?.broken, compared].filter((each) => each != null)],
  };
}

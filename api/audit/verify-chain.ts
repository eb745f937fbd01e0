import type { Services } from '../core/context.js';
import type { Break, BreakKind } from './break.js';
import { checkpointFile } from './checkpoint.js';
import { type SealReport, sealEntries } from './seal-entries.js';
import { type PublicKeys, trustedKeys } from './signing-keys.js';
import { compareWithWitness, verifyCheckpoints } from './verify-checkpoints.js';
import { verifyGuards } from './verify-guards.js';
import { findStuck, readPendingChains, verifyRows } from './verify-rows.js';
import { type SealsReport, verifySeals } from './verify-seals.js';

export interface VerifyOptions {
  /** Keys whose checkpoints count; default: those of the settings. */
  keys?: PublicKeys;
  /** An earlier copy of the checkpoints, kept elsewhere. */
  witness?: string;
}

export interface AuditReport extends Omit<SealsReport, 'breaks'> {
  /** Lines of the checkpoints that were read. */
  checkpoints: number;
  /** When the newest of them was signed. */
  newest_checkpoint: string | null;
  /** What is wrong, at most 20 of each check; none = everything is as it was written. */
  breaks: Break[];
}

const noEntry = (kind: BreakKind, chain: string | null, detail: string): Break => ({
  kind,
  chain,
  sequence: null,
  audit_id: null,
  detail,
});

/** Seals what is pending and says what could not be sealed. A log that cannot be sealed can still be verified. */
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
 * Seals what is pending, then checks the whole log as of one moment: every entry against its hash, every hash against the one
 * before, heads, entries and pending rows that came past the product, what keeps the log append-only, the signed checkpoints, and a
 * witness's copy of them. Writers and sealers may go on meanwhile.
 * @throws Error when the keys cannot be read, or the witness's copy is missing or empty
 */
export async function verifyChain(
  { db, config }: Pick<Services, 'db' | 'config'>,
  { keys = trustedKeys(config), witness }: VerifyOptions = {},
): Promise<AuditReport> {
  await sealPending({ db });
  const snapshot = await db.transaction(
    async (trx) => {
      // As long as it takes.
      await trx.raw('set local statement_timeout = 0');
      const seals = await verifySeals(trx);
      return { seals, pending: await readPendingChains(trx), guards: await verifyGuards(trx), rows: await verifyRows(trx) };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
  // What was committed after the first sealing is sealed now; what is still pending was passed by twice.
  const stuck = snapshot.pending.length > 0 ? [...(await sealPending({ db })), ...(await findStuck(db, snapshot.pending))] : [];
  // After the snapshot: a checkpoint may be younger than that, and is compared with the chain as it is by then.
  const file = checkpointFile(config);
  const local = await verifyCheckpoints(db, file, keys);
  const kept = witness === undefined ? null : await verifyCheckpoints(db, witness, keys);
  if (kept?.checkpoints === 0) throw new Error(`${witness} is missing or holds no checkpoint`);
  const compared = witness === undefined ? null : await compareWithWitness(file, witness);
  const breaks = [...snapshot.seals.breaks, ...snapshot.rows, ...stuck, ...snapshot.guards];
  return {
    chains: snapshot.seals.chains,
    entries: snapshot.seals.entries,
    checkpoints: local.checkpoints,
    newest_checkpoint: local.newest,
    breaks: [...breaks, ...[local.broken, kept?.broken, compared].filter((each) => each != null)],
  };
}

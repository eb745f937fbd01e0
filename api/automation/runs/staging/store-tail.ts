import { defineStatement, run } from '../../../../db/statement.js';
import type { Context, Services } from '../../../platform/context.js';
import { lockRun, type RunRow } from '../execution/load-run.js';
import { stageTail } from './stage-tail.js';
import type { StoredTail } from './tail.js';

/** SQL over gates g: it has no text yet, or one that nobody could try and nobody has approved. */
const UNSTAGED = /* sql */ `g.decision is null and (g.staged is null or (not g.staged_tried
  and not exists (select from gate_approvals p where p.run_id = g.run_id and p.gate_index = g.gate_index)))`;

/** $1 = run id, $2 = gate index, $3 = text, $4 = hash, $5 = whether it was tried. */
const storeStatement = defineStatement({
  name: 'store_tail',
  text: /* sql */ `
    update gates g set staged = $3, staged_hash = $4, staged_tried = $5 where g.run_id = $1 and g.gate_index = $2 and ${UNSTAGED}`,
});

/** $1 = run ids. */
const unstagedStatement = defineStatement({
  name: 'unstaged_gates',
  text: /* sql */ `
    select g.run_id, g.gate_index from gates g join automation_runs r using (run_id)
    where g.run_id = any($1::uuid[]) and r.status = 'paused' and ${UNSTAGED}`,
});

/** $1 = run id. */
const freeStatement = defineStatement({
  name: 'free_paused_run',
  text: `select run_id from automation_runs where run_id = $1 for update skip locked`,
});

/** Stores what a gate releases with the gate. The caller has locked the run. Returns what was stored. */
export async function keepTail(
  { db }: Services,
  { run_id }: RunRow,
  gateIndex: number,
  { staged, staged_hash, tried }: Awaited<ReturnType<typeof stageTail>>,
): Promise<StoredTail> {
  await run(db, storeStatement, [run_id, gateIndex, staged, staged_hash, tried]);
  return { staged, staged_hash };
}

/** Stages what a gate releases and stores it. */
export const storeTail = async (services: Services, row: RunRow, gateIndex: number): Promise<StoredTail> =>
  keepTail(services, row, gateIndex, await stageTail(services, row, gateIndex));

/** $1 = run id, $2 = gate index. */
const readStatement = defineStatement({
  name: 'read_tail',
  text: `select staged, staged_hash from gates where run_id = $1 and gate_index = $2 and staged is not null`,
});

/** Returns what a gate releases. Stages it, if an older version of the service opened the gate. The caller has locked the run. */
export async function storedTail(services: Services, row: RunRow, gateIndex: number): Promise<StoredTail> {
  const [stored] = await run<StoredTail & Record<string, unknown>>(services.db, readStatement, [row.run_id, gateIndex]);
  return stored ?? storeTail(services, row, gateIndex);
}

/** How long a reading stages gates, in ms: the others are left to the next one. */
const BUDGET_MS = 1_000;

/**
 * Stages the gates of paused runs that have no text yet: an older version of the service opened them, or a row was locked when they opened. A
 * list leaves a run that is locked now to the next reading; a caller who reads one gate whole waits for it (`waits`).
 */
export async function stageAtFirstSight(ctx: Context, runIds: readonly string[], waits: boolean): Promise<void> {
  if (runIds.length === 0) return;
  const unstaged = await run<{ run_id: string; gate_index: number }>(ctx.db, unstagedStatement, [runIds]);
  const end = Date.now() + BUDGET_MS;
  for (const { run_id, gate_index } of unstaged) {
    if (Date.now() > end) return;
    const staging = ctx.db.transaction(async (db) => {
      if (!waits && (await run(db, freeStatement, [run_id])).length === 0) return;
      const row = await lockRun(db, run_id);
      // Another transaction may have staged it meanwhile.
      const [left] = await run<{ gate_index: number }>(db, unstagedStatement, [[run_id]]);
      if (row && left?.gate_index === gate_index) await storeTail({ ...ctx, db }, row, gate_index);
    });
    // One that cannot be staged must not keep the others of a list from being shown: it stands there without its actions.
    await staging.catch((err: unknown) => {
      if (waits) throw err;
      ctx.log.error({ err, run_id }, 'a gate could not be staged');
    });
  }
}

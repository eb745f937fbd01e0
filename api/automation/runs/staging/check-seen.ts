import { lastChanges } from '../../../work/activity-feed/last-changes.js';
import { type Context } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { hasChanged, readVersions, seenHash } from '../../../gate/staging/changed-since.js';
import { lockRun } from '../execution/load-run.js';
import { storedTail } from './store-tail.js';
import { readTail, type StagedStep, type StoredTail } from './tail.js';
import { type LockedGate, type LockedRun, otherText } from '../approvals/lock-gate.js';
import type { ApproveGate } from '../approvals/schema.js';

/** Returns who changed which target since, as far as the caller may know it. */
async function listChanges(ctx: Context, steps: readonly StagedStep[], requestedAt: Date, versions: ReadonlyMap<string, number>) {
  const stale = steps.filter((step) => hasChanged(step, versions));
  const since = requestedAt.toISOString();
  const found = await lastChanges(
    ctx,
    stale.map(({ entity_type, entity_id }) => ({
      entity_type: entity_type as 'task' | 'project',
      entity_id: entity_id as string,
      since,
    })),
  );
  return stale.map(({ index, entity_id }) => {
    const change = found.get(entity_id as string);
    return { index, entity_id, by: change?.user_id ?? null, at: change?.timestamp ?? null };
  });
}

/**
 * Returns what the gate releases, and compares it with what the caller has read. Stages it first, if an older version of the service opened the
 * gate. The caller has locked the run. `versions`: those of the targets, for a gate that asks again.
 * @throws RESOURCE_CONFLICT another text, or with `changed` another version of a target
 */
export async function checkSeen(
  ctx: Context,
  { run_id }: LockedRun,
  gate: LockedGate,
  { staged_hash, seen_hash }: ApproveGate,
): Promise<StoredTail & { versions: ReadonlyMap<string, number> | null }> {
  const { staged, asks_again } = gate;
  const row = staged === null ? await lockRun(ctx.db, run_id) : undefined;
  const tail = row ? await storedTail(ctx, row, gate.gate_index) : { staged: staged ?? '', staged_hash: gate.staged_hash };
  if (staged_hash != null && staged_hash !== tail.staged_hash) throw otherText();
  if (seen_hash == null && !asks_again) return { ...tail, versions: null };
  const steps = readTail(tail).actions;
  const versions = await readVersions(ctx, steps);
  if (seen_hash == null || seen_hash === seenHash(tail.staged_hash, steps, versions))
    return { ...tail, versions: asks_again ? versions : null };
  throw conflict('What the actions would change has changed since you have read it', {
    detail: 'Nothing was decided. Read the gate again.',
    extra: { changed: await listChanges(ctx, steps, gate.requested_at, versions) },
  });
}

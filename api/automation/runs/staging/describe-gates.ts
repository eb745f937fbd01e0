import { run } from '../../../../db/statement.js';
import { type LastChange, lastChanges } from '../../../work/activity-feed/last-changes.js';
import { availableActions } from '../../actions/registry.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import { hasChanged, readVersions, seenHash } from '../../../gate/staging/changed-since.js';
import { readChanged, withPresentValues } from '../../../gate/staging/present-values.js';
import { idsIn, type Names, type Presented, presentActions } from '../../../gate/staging/present.js';
import type { ActionLine } from '../../../gate/staging/schema.js';
import { namesAt, type Wanted } from '../names-at.js';
import { describeGatesStatement } from './describe-gates.sql.js';
import { listSinceStart, type SinceStart } from './since-start.js';
import { stageAtFirstSight } from './store-tail.js';
import { readTail, type StagedStep, type StoredTail } from './tail.js';

interface Row extends Record<string, unknown> {
  run_id: string;
  gate_index: number;
  team_id: string | null;
  creator_id: string;
  requested_at: Date;
  staged: string | null;
  staged_hash: string | null;
  /** Actions behind the gate, also those behind a further gate. */
  waiting: number;
}

/** What a yes to a gate does. */
export interface DescribedGate {
  gate_index: number;
  lines: ActionLine[];
  staged_hash: string;
  /** The staged text and the versions of its targets as they are now. */
  seen_hash: string;
  /** Name of the user as whom the actions act; null if the readers may not know it. */
  actor: string | null;
  /** Actions that wait behind a further gate. */
  later: number;
  /** What has changed of the task that started the run; null if nothing has. */
  since: SinceStart | null;
}

/** Bytes of a text that a list reads; the page of one decision shows any. */
const MAX_LISTED_BYTES = 16_000;
const ANY_LENGTH = 2 ** 31 - 1;

const labels = (): Map<string, string> => new Map(availableActions().map(({ type, label }) => [type, label]));

/** What staged steps name, for a place: the run's team, or the creator of a personal automation. */
export function collectWanted(place: string, steps: readonly StagedStep[], creatorId: string): Wanted {
  const { item, user } = idsIn(steps);
  return { place, items: item, users: [...user, creatorId] };
}

/** Returns staged steps in words. `changes`: who changed a target since. */
export function presentSteps(
  steps: readonly StagedStep[],
  names: Names,
  changes: ReadonlyMap<string, NonNullable<ActionLine['changed']>> = new Map(),
): ActionLine[] {
  const words = labels();
  const shown = steps.map((step): Presented => {
    const label = words.get(step.type);
    return { ...step, ...(label !== undefined && { label }), changed: changes.get(step.entity_id ?? '') ?? null };
  });
  return presentActions(shown, names);
}

/** Returns who changed a target last, when and what, as a line of a plan or a gate shows it. */
export const presentChange = (found: LastChange | undefined, userId: string): NonNullable<ActionLine['changed']> => ({
  by: found ? (found.user_id === userId ? 'you' : found.user_name && withVisibleNames(found.user_name)) : null,
  at: found?.timestamp ?? null,
  summary: found?.summary ?? null,
});

/** Returns the steps of a text; undefined of a damaged one, which must not keep the other gates from being shown. */
function readSteps({ log }: Pick<Context, 'log'>, runId: string, stored: StoredTail): StagedStep[] | undefined {
  try {
    return readTail(stored).actions;
  } catch (err) {
    log.error({ err, run_id: runId }, 'the text of a gate is damaged');
    return undefined;
  }
}

/** Returns who changed the targets of gates since they were staged, by id, as far as the caller may know it. */
async function listChanges(
  ctx: Context,
  gates: readonly { steps: StagedStep[]; requested_at: Date }[],
  versions: ReadonlyMap<string, number>,
): Promise<Map<string, NonNullable<ActionLine['changed']>>> {
  const stale = gates.flatMap(({ steps, requested_at }) =>
    steps
      .filter((step) => hasChanged(step, versions))
      .map(({ entity_type, entity_id }) => ({
        entity_type: entity_type as 'task' | 'project',
        entity_id: entity_id as string,
        since: requested_at.toISOString(),
      })),
  );
  const found = await lastChanges(ctx, stale);
  return new Map(stale.map(({ entity_id }) => [entity_id, presentChange(found.get(entity_id), requireUser(ctx))]));
}

/**
 * Returns what a yes to the open gates of runs does, by run id. The caller may read the runs. A run is absent if it has no open gate, or if its
 * actions are too long for a list or could not be staged yet: no yes may be offered then.
 */
export async function describeGates(
  ctx: Context,
  runIds: readonly string[],
  maxBytes = MAX_LISTED_BYTES,
): Promise<Record<string, DescribedGate>> {
  if (runIds.length === 0) return {};
  await stageAtFirstSight(ctx, runIds, maxBytes === ANY_LENGTH);
  const rows = await run<Row>(ctx.db, describeGatesStatement, [runIds, maxBytes]);
  const gates = rows.flatMap(({ staged, staged_hash, ...row }) => {
    const steps = staged === null || staged_hash === null ? undefined : readSteps(ctx, row.run_id, { staged, staged_hash });
    return steps && staged_hash !== null ? [{ ...row, staged_hash, steps }] : [];
  });
  const versions = await readVersions(
    ctx,
    gates.flatMap(({ steps }) => steps),
  );
  const changes = await listChanges(ctx, gates, versions);
  const since = await listSinceStart(
    ctx,
    gates.map(({ run_id }) => run_id),
  );
  const present = await readChanged(
    ctx,
    gates.flatMap(({ steps }) => steps),
    versions,
  );
  const shown = gates.map(({ steps }) => withPresentValues(steps, present));
  const names = await namesAt(
    ctx,
    gates.map(({ team_id, creator_id }, at) => collectWanted(team_id ?? creator_id, shown[at] ?? [], creator_id)),
  );
  return Object.fromEntries(
    gates.map(({ run_id, gate_index, creator_id, staged_hash, steps, waiting }, at): [string, DescribedGate] => [
      run_id,
      {
        gate_index,
        lines: presentSteps(shown[at] ?? [], names[at] ?? {}, changes),
        staged_hash,
        seen_hash: seenHash(staged_hash, steps, versions),
        actor: names[at]?.[creator_id] ?? null,
        later: Math.max(0, waiting - steps.length),
        since: since.get(run_id) ?? null,
      },
    ]),
  );
}

/** The same for one run, however long its actions are; undefined if it has no open gate. */
export const describeGate = async (ctx: Context, runId: string): Promise<DescribedGate | undefined> =>
  (await describeGates(ctx, [runId], ANY_LENGTH))[runId];

/** Returns what gates released or would have released, from their texts as they were shown; undefined for a damaged text. The caller may read the runs. */
export async function describeTails(
  ctx: Context,
  tails: readonly (StoredTail & { run_id: string; place: string; creator_id: string })[],
): Promise<(ActionLine[] | undefined)[]> {
  const steps = tails.map((tail) => readSteps(ctx, tail.run_id, tail));
  const names = await namesAt(
    ctx,
    tails.map(({ place, creator_id }, at) => collectWanted(place, steps[at] ?? [], creator_id)),
  );
  return steps.map((one, at) => one && presentSteps(one, names[at] ?? {}));
}

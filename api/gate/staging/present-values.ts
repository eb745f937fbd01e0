import { isDeepStrictEqual } from 'node:util';
import { findSeat } from '../../platform/access/seats.js';
import type { Context } from '../../platform/context.js';
import { hasChanged, type StagedTarget } from './changed-since.js';
import { CUSTOM_FIELDS, customFieldsIn, readCustomValues } from './custom-values.js';
import { readTarget, type Target } from './read-target.js';
import type { ActionFailure } from '../contract/action-refused.js';

/** A target as it is now. */
export type PresentTarget = Pick<Target, 'record' | 'in_trash'>;

interface Step extends StagedTarget {
  refused: ActionFailure | null;
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
  params: Readonly<Record<string, unknown>> | null;
}

/** Whether a step sets custom fields: the version of their task does not count them, so they are read as they are now. */
const setsFields = ({ entity_id, params }: StagedTarget): boolean =>
  entity_id !== null && Object.keys(customFieldsIn(params ?? null)).length > 0;

/**
 * Returns a step with the custom fields that a yes would change now: those that it was to change, with their present values, and those that it found as it
 * wants them and that are not so any more.
 */
function withPresentFields<S extends Step>(step: S, record: Readonly<Record<string, unknown>> | undefined): S {
  if (!setsFields(step) || !record || !(CUSTOM_FIELDS in record)) return step;
  const [now, wanted] = [customFieldsIn(record), customFieldsIn(step.params)];
  const was = customFieldsIn(step.before);
  const ids = Object.keys(wanted).filter((id) => id in was || !isDeepStrictEqual(now[id], wanted[id]));
  if (ids.length === 0) return step;
  const of = (values: Readonly<Record<string, unknown>>) => Object.fromEntries(ids.map((id) => [id, values[id] ?? null]));
  return { ...step, before: { ...step.before, [CUSTOM_FIELDS]: of(now) }, after: { ...step.after, [CUSTOM_FIELDS]: of(wanted) } };
}

/** Changed targets that one page reads. */
const MAX_READ = 50;

/**
 * Reads the tasks and projects that have changed since their actions were staged, by id, as the API shows them; the first fifty of them. Not those of
 * a team without the caller: who has left a team still reads what their personal automations staged there, and nothing that came later.
 */
export async function readChanged(
  ctx: Context,
  steps: readonly StagedTarget[],
  versions: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, PresentTarget>> {
  const stale = new Map(
    steps
      .filter((step) => hasChanged(step, versions) || setsFields(step))
      .map((step) => [step.entity_id as string, step.entity_type]),
  );
  const read = async (id: string, type: string | null) => {
    const target = await readTarget(ctx, type as 'task' | 'project', id);
    const set = Object.assign(
      {},
      ...steps.filter(({ entity_id }) => entity_id === id).map(({ params }) => customFieldsIn(params ?? null)),
    );
    if (!target || Object.keys(set).length === 0) return [id, target] as const;
    return [id, { ...target, record: { ...target.record, [CUSTOM_FIELDS]: await readCustomValues(ctx, id, set) } }] as const;
  };
  const found = await Promise.all([...stale].slice(0, MAX_READ).map(([id, type]) => read(id, type)));
  const teams = [...new Set(found.flatMap(([, target]) => (target ? [target.team_id] : [])))];
  const seats = new Map(await Promise.all(teams.map(async (id) => [id, await findSeat(ctx, id)] as const)));
  return new Map(found.flatMap(([id, target]) => (target && seats.get(target.team_id) ? [[id, target]] : [])));
}

/** Parameters name a day, records the moment that it stands for. */
const isSame = (field: string, present: unknown, wanted: unknown): boolean =>
  isDeepStrictEqual(present, wanted) || (field === 'due_date' && String(present).slice(0, 10) === String(wanted).slice(0, 10));

/** Returns the parameters of a step that were as it wants them, and are not any more. */
function listRegained(
  { before, params }: Step,
  record: Readonly<Record<string, unknown>> | undefined,
  isLeft: (field: string) => boolean,
): Record<string, unknown> {
  const lost = ([field, wanted]: [string, unknown]): boolean =>
    isLeft(field) && !(field in (before ?? {})) && !isSame(field, record?.[field], wanted);
  return Object.fromEntries(Object.entries(params ?? {}).filter(lost));
}

const pick = (record: Readonly<Record<string, unknown>> | undefined, fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, record?.[field]]));

const IN_TRASH: ActionFailure = { code: 'invalid_request', message: 'It is in the trash' };

/**
 * Returns steps whose old values are those that a yes would replace now: the ones of the staged text are history after a change. A value that an
 * earlier step sets stays. A value that a step found as it wants it, and that is another one by now, is a change. A step whose target has come into
 * the trash says that it would be refused. `was`: the values when it was staged.
 */
export function withPresentValues<S extends Step>(
  steps: readonly S[],
  present: ReadonlyMap<string, PresentTarget>,
): (S & { was: Step['before'] })[] {
  const set = new Set<string>();
  return steps.map((staged) => {
    const { record, in_trash = false } = present.get(staged.entity_id ?? '') ?? {};
    const step = set.has(`${staged.entity_id} ${CUSTOM_FIELDS}`) ? staged : withPresentFields(staged, record);
    const { before } = step;
    const isLeft = (field: string): boolean =>
      field !== CUSTOM_FIELDS && record !== undefined && field in record && !set.has(`${step.entity_id} ${field}`);
    const shown =
      before && Object.fromEntries(Object.entries(before).map(([field, was]) => [field, isLeft(field) ? record?.[field] : was]));
    const regained = before === null ? {} : listRegained(step, record, isLeft);
    for (const field of Object.keys({ ...step.after, ...regained })) set.add(`${step.entity_id} ${field}`);
    const now = { before: shown && { ...shown, ...pick(record, regained) }, after: step.after && { ...step.after, ...regained } };
    const was = staged.before && { ...staged.before, ...regained };
    return { ...step, ...now, was, refused: step.refused ?? (in_trash ? IN_TRASH : null) };
  });
}

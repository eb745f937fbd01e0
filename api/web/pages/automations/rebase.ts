import { isDeepStrictEqual } from 'node:util';
import { GATE } from '../../../automation/actions/rules.js';
import { availableActions } from '../../../automation/actions/registry.js';
import { type Draft, type DraftAction, DRAFT_FIELDS } from './draft.js';

type Steps = Pick<Draft, 'actions'>;

const gatesOf = ({ actions }: Steps): number => actions.filter(({ type }) => type === GATE).length;

/** A step, and how many gates are before it. */
interface PlacedStep {
  step: DraftAction;
  number: number;
  gates: number;
}

function placeSteps({ actions }: Steps): PlacedStep[] {
  let gates = 0;
  return actions.flatMap((step, index) => {
    if (step.type !== GATE) return [{ step, number: index + 1, gates }];
    gates += 1;
    return [];
  });
}

/** Returns the steps that fewer gates release than before. An edited step is taken for the next one of its type that is not the same. */
function looserSteps(now: Steps, before: Steps): PlacedStep[] {
  const earlier = placeSteps(before);
  const take = (fits: (one: PlacedStep) => boolean): PlacedStep | undefined => {
    const at = earlier.findIndex(fits);
    return at < 0 ? undefined : earlier.splice(at, 1)[0];
  };
  const pairs = placeSteps(now).map((placed) => ({ placed, was: take(({ step }) => isDeepStrictEqual(step, placed.step)) }));
  return pairs.flatMap(({ placed, was = take(({ step }) => step.type === placed.step.type) }) =>
    was && placed.gates < was.gates ? [placed] : [],
  );
}

const nameOf = ({ step: { name, type }, number }: PlacedStep): string =>
  `step ${number} (${name ?? availableActions().find((each) => each.type === type)?.label ?? type})`;

const list = new Intl.ListFormat('en-GB');
/** Steps that a sentence names. */
const MAX_NAMED = 3;

/** Says that a definition has fewer approval gates than the one before, or steps with fewer gates before them; empty if not. */
export function looserGates(now: Steps, before: Steps): string {
  const fewer = gatesOf(before) - gatesOf(now);
  const count = fewer > 0 ? ` It has ${gatesOf(now)} approval gates, ${fewer} fewer than before.` : '';
  const steps = looserSteps(now, before);
  if (steps.length === 0) return count;
  const more = steps.length > MAX_NAMED ? [`${steps.length - MAX_NAMED} more`] : [];
  const named = list.format([...steps.slice(0, MAX_NAMED).map(nameOf), ...more]);
  const isFree = steps.every(({ gates }) => gates === 0);
  return `${count} Behind ${isFree ? 'no gate' : 'fewer gates than before'} now: ${named}.`;
}

/**
 * Puts a form's definition on top of a version that another user saved: what the form left as its own version `base` had it is as the newer one has it.
 * @returns the definition, and the fields that both changed: the form's stay
 */
export function rebaseDraft(draft: Draft, base: Partial<Draft>, current: Draft): { draft: Draft; clashes: string[] } {
  const isChanged = (field: (typeof DRAFT_FIELDS)[number]): boolean =>
    !isDeepStrictEqual(draft[field], field in base ? base[field] : current[field]);
  const mine = DRAFT_FIELDS.filter(isChanged);
  const clashes = mine.filter((field) => field in base && !isDeepStrictEqual(base[field], current[field]));
  return { draft: { ...current, ...Object.fromEntries(mine.map((field) => [field, draft[field]])) }, clashes };
}

/** Says what both changed; undefined if nothing. */
export function describeClashes(clashes: readonly string[], draft: Draft, current: Draft): string | undefined {
  if (clashes.length === 0) return undefined;
  const fields = clashes.map((field) => (field === 'actions' ? 'steps' : field.replaceAll('_', ' '))).join(', ');
  return `Both of you changed: ${fields}. The form shows yours, which replace theirs when you save.${looserGates(draft, current)}`;
}

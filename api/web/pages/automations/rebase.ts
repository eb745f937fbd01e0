import { isDeepStrictEqual } from 'node:util';
import { GATE } from '../../../automation/actions/rules.js';
import { type Draft, DRAFT_FIELDS } from './draft.js';

const gatesOf = ({ actions }: Pick<Draft, 'actions'>): number => actions.filter(({ type }) => type === GATE).length;

/** Says that a definition has fewer approval gates than the one before; empty if not. */
export const fewerGates = (now: Pick<Draft, 'actions'>, before: Pick<Draft, 'actions'>): string =>
  gatesOf(now) < gatesOf(before)
    ? ` It has ${gatesOf(now)} approval gates, ${gatesOf(before) - gatesOf(now)} fewer than before.`
    : '';

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
  return `Both of you changed: ${fields}. The form shows yours, which replace theirs when you save.${fewerGates(draft, current)}`;
}

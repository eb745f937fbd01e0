import type { StoredAction } from '../../../db/models/automation/automation.js';
import { invalid } from '../../platform/errors.js';
import { didYouMean, nearest } from '../../platform/validation/suggestions.js';
import { fieldIn, listAnswerReads, stepNameIn } from '../language/answer-paths.js';
import { isSent } from './registry.js';
import { GATE } from './rules.js';

/** Returns the index of the one action with the name. @throws INVALID_REQUEST none or several have it */
function findNamed(place: string, name: string, actions: readonly StoredAction[]): number {
  const found = [...actions.keys()].filter((index) => actions[index]?.name === name);
  if (found.length === 1) return found[0] as number;
  if (found.length > 1) throw invalid(`${place}: ${found.length} steps are named ${name}`);
  const names = actions.flatMap((action) => (action.name && isSent(action.type) ? [action.name] : []));
  throw invalid(`${place}: no step is named ${name}${didYouMean(nearest(name, names, 1))}`);
}

/** @throws INVALID_REQUEST the answer of `path` is not there, or not shown to who approves, when the action at `index` reads it */
function checkRead(place: string, path: string, index: number, actions: readonly StoredAction[]): void {
  const name = stepNameIn(path);
  if (fieldIn(path) === '') throw invalid(`${place}: name a step and a field of its answer, such as steps.lookup.status`);
  const source = findNamed(place, name, actions);
  const type = actions[source]?.type ?? '';
  if (!isSent(type)) throw invalid(`${place}: step ${name} (${type}) gets no answer`);
  if (source >= index) throw invalid(`${place}: step ${name} comes later, so its answer is not there yet`);
  const gate = actions.findLastIndex((action, at) => action.type === GATE && at < index);
  // What a gate shows must be whole: an answer that comes after the yes could not be in it.
  if (actions[index]?.type !== GATE && gate !== -1 && source > gate) {
    throw invalid(`${place}: the answer of step ${name} comes after the approval. Put a gate between them`);
  }
}

/**
 * Checks every read of an answer (docs/decisions/automation.md#answers-of-steps).
 * @throws INVALID_REQUEST naming the action by its index, and the parameter
 */
export function checkAnswers(actions: readonly StoredAction[]): void {
  for (const [index, action] of actions.entries()) {
    for (const { place, path } of listAnswerReads(action)) checkRead(`actions[${index}].${place}`, path, index, actions);
  }
}

import { checkCondition, evaluateCondition } from './condition.js';
import { KNOWN_NAMES } from './condition-grammar.js';
import type { ConditionScope } from './condition-scope.js';
import { explainFalse } from './explain-condition.js';

/** What a run does not store: the condition of an action reads its event, and the answers that earlier steps got. */
const NOT_STORED = ['project', 'actor'];
const NAMES: ReadonlySet<string> = new Set([...KNOWN_NAMES].filter((name) => !NOT_STORED.includes(name)));

/** Validates the condition of one action on save, like `checkCondition`. */
export function checkOnlyIf(source: string): ReturnType<typeof checkCondition> {
  const verdict = checkCondition(source, NAMES);
  if (verdict.ok || !NOT_STORED.some((name) => verdict.message === `Unknown variable: ${name}`)) return verdict;
  return { ...verdict, message: `${verdict.message}: the condition of an action reads the event and answers only` };
}

/** What the condition of an action comes to: `why` it is false, or the error for which it could not be evaluated. */
type OnlyIf = { state: 'true' } | { state: 'false'; why: string } | { state: 'fails'; error: string };

/** Evaluates the condition of an action. Never throws. */
export function evaluateOnlyIf(source: string, scope: ConditionScope): OnlyIf {
  const { matched, error } = evaluateCondition(source, scope);
  if (error !== null) return { state: 'fails', error };
  return matched ? { state: 'true' } : { state: 'false', why: explainFalse(source, scope) };
}

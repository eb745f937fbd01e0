import type { StoredAction } from '../../../db/models/automation/automation.js';
import { invalid } from '../../platform/errors.js';
import { didYouMean, nearest } from '../../platform/validation/suggestions.js';
import { buildSentence, ZOD_MESSAGES } from '../../platform/validation/messages.js';
import { checkAnswers } from './check-answers.js';
import { GATE } from './rules.js';
import { checkOnlyIf } from '../language/only-if.js';
import { checkTemplates } from '../language/template.js';
import type { ActionDescription, DefaultedParam } from '../../gate/contract/action-type.js';
import { dispatchRunnerJob } from './dispatch-runner-job.js';
import { hasTemplatedOrigin } from './literal-origin.js';
import { availableActions } from './registry.js';

/** An action as callers write it: parameters under `params`, or beside `type` without `params`. */
export interface GivenAction {
  type: string;
  name?: string | null | undefined;
  if?: string | null | undefined;
  params?: Record<string, unknown> | null | undefined;
  on_failure?: 'continue' | 'stop' | null | undefined;
  retry?: { max_attempts: number } | null | undefined;
  [param: string]: unknown;
}

const MAX_NAME_LENGTH = 64;
const OWN_KEYS = ['type', 'name', 'if', 'params', 'on_failure', 'retry'];

const isTemplate = (value: unknown): boolean => typeof value === 'string' && value.includes('{{');

/** @throws INVALID_REQUEST naming the parameter and the nearest known one: a misspelled gate must not be saved as a lax one */
function refuseUnknown(place: string, input: object, known: readonly string[]): void {
  const unknown = Object.keys(input).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const name = unknown.toWellFormed().slice(0, MAX_NAME_LENGTH);
  const near = nearest(name, known, 1, Math.max(2, Math.floor(name.length / 2)));
  const hint = near.length > 0 ? didYouMean(near) : `; known: ${known.join(', ') || 'none'}`;
  throw invalid(`${place}.${name}: unknown${hint}`);
}

/** Returns the parameters of an action. Null counts as absent. @throws INVALID_REQUEST for an unknown parameter */
function buildParams(
  place: string,
  action: GivenAction,
  { params, defaulted = [], clears }: ActionDescription,
): Record<string, unknown> {
  const input = action.params ?? Object.fromEntries(Object.entries(action).filter(([key]) => !OWN_KEYS.includes(key)));
  refuseUnknown(action.params ? `${place}.params` : place, input, Object.keys(params.shape));
  const isPresent = (key: string, value: unknown): boolean =>
    value !== null || (clears === true && !defaulted.includes(key as DefaultedParam));
  return Object.fromEntries(Object.entries(input).filter(([key, value]) => isPresent(key, value)));
}

/** Returns true if only a run can validate the value: it is a template, or omitted and taken from the event. */
function isDeferred(
  { defaulted = [], templated }: ActionDescription,
  params: Record<string, unknown>,
  path: PropertyKey[],
): boolean {
  const [name, ...rest] = path as string[];
  if (name === undefined) return false;
  if (params[name] === undefined) return defaulted.includes(name as DefaultedParam);
  if (templated && !templated.includes(name)) return false;
  let value: unknown = params[name];
  for (const step of rest) {
    if (isTemplate(value)) return true;
    value = (value as Record<string, unknown> | undefined)?.[step];
  }
  return isTemplate(value);
}

/** @throws INVALID_REQUEST naming the parameter */
function checkParams(place: string, description: ActionDescription, params: Record<string, unknown>): void {
  const templates = checkTemplates(params);
  if (!templates.ok) {
    const at = templates.position === null ? '' : ` (at character ${templates.position})`;
    throw invalid(`${place}.params.${templates.path}: ${templates.message}${at}`);
  }
  const { error } = description.params.safeParse(params, ZOD_MESSAGES);
  const issue = error?.issues.find(({ path }) => !isDeferred(description, params, path));
  if (issue) throw invalid(`${place}.params${issue.path.length > 0 ? '.' : ' '}${buildSentence(issue, '').trimStart()}`);
  if (hasTemplatedOrigin(description, params)) {
    throw invalid(
      `${place}.params.url: an action that sends a secret needs a literal scheme and host; templates may follow them`,
    );
  }
}

/**
 * Returns the condition of an action; undefined if it is always performed.
 * @throws INVALID_REQUEST its fault; or a gate, which an event could then talk out of asking (docs/decisions/automation.md#conditions-of-actions)
 */
function readOnlyIf(place: string, type: string, source: string | null | undefined): string | undefined {
  if (!source?.trim()) return undefined;
  if (type === GATE) throw invalid(`${place}.if: a gate has no condition: put it on the actions behind the gate`);
  const verdict = checkOnlyIf(source);
  if (verdict.ok) return source;
  throw invalid(`${place}.if: ${verdict.message}${verdict.position === null ? '' : ` (at character ${verdict.position})`}`);
}

/**
 * Rejects a gate that needs other approvers in a personal automation: its creator alone decides its gates, so it could never
 * pass.
 */
function checkPersonalGate(
  place: string,
  { allow_self_approval: self, required_approvals: needed }: Record<string, unknown>,
): void {
  if (self !== false && (needed === undefined || needed === 1)) return;
  throw invalid(`${place}: a personal automation may require its owner’s approval only`);
}

/**
 * Validates an automation's actions and returns their stored form. Values with templates are validated during the run.
 * `personal`: the automation has no team.
 * @throws INVALID_REQUEST naming the action by its index, and the parameter
 */
export function checkActions(actions: readonly GivenAction[], personal: boolean): StoredAction[] {
  const stored = actions.map((action, index): StoredAction => {
    const place = `actions[${index}]`;
    const description = availableActions().find(({ type }) => type === action.type);
    if (!description) {
      const shown = action.type.slice(0, 100);
      const types = availableActions().map(({ type }) => type);
      throw invalid(`${place}.type: unknown action: ${shown}${didYouMean(nearest(action.type, types, 3))}`);
    }
    const params = buildParams(place, action, description);
    checkParams(place, description, params);
    if (personal && action.type === GATE) checkPersonalGate(place, params);
    if (personal && action.type === dispatchRunnerJob.type) throw invalid(`${place}: a personal automation has no runners`);
    const { type, name, on_failure, retry } = action;
    const onlyIf = readOnlyIf(place, type, action.if);
    return {
      type,
      ...(name ? { name } : {}),
      ...(onlyIf === undefined ? {} : { if: onlyIf }),
      params,
      on_failure: on_failure ?? 'continue',
      ...(retry ? { retry } : {}),
    };
  });
  checkAnswers(stored);
  return stored;
}

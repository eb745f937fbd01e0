import { invalid } from '../../../platform/errors.js';
import { buildSentence, ZOD_MESSAGES } from '../../../platform/validation/messages.js';
import type { ActionDescription } from '../../../gate/contract/action-type.js';
import { ActionRefused } from '../../../gate/contract/action-refused.js';
import { withDefaults } from '../../actions/registry.js';
import { withDueDate } from '../../actions/written-due.js';
import { fieldIn, stepNameIn } from '../../language/answer-paths.js';
import { renderTemplates } from '../../language/template.js';
import { dayIn } from '../../../work/tasks/recurrence/next-date.js';
import { readTail, replaceMarks } from '../staging/tail.js';
import { findUnreadable } from './answers.js';
import type { Answered, RunRow } from './load-run.js';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the stored parameters of an action, under `params` or beside `type`. */
export function storedParams(run: Pick<RunRow, 'actions'>, index: number): Record<string, unknown> {
  const action = run.actions[index] as { type: string; params?: Record<string, unknown> } & Record<string, unknown>;
  const { type: _type, name: _name, params, on_failure: _onFailure, retry: _retry, if: _if, ...flat } = action;
  return params ?? flat;
}

/** What parameters are filled in from. */
export type FilledRun = Pick<RunRow, 'actions' | 'event' | 'event_truncated' | 'project_id' | 'queued_at' | 'schedule_timezone'> &
  Answered;

/** Values of secrets by name. */
type Secrets = Pick<ReadonlyMap<string, string>, 'get'>;

const secretMissing = (name: string, sends: boolean): ActionRefused =>
  new ActionRefused({
    code: 'secret_missing',
    message: sends ? `Secret ${name} does not exist` : `This action does not support secrets: ${name}`,
  });

const noAnswer = (path: string): ActionRefused =>
  new ActionRefused({
    code: 'template_missing',
    message: `The answer of step ${stepNameIn(path)} has no ${fieldIn(path)}, or there is no such answer, or it is too long to keep`,
  });

/**
 * Fills in defaults and renders templates against the event; does not validate.
 * @throws ActionRefused
 */
export function renderFromEvent(type: ActionDescription, run: FilledRun, index: number, secrets?: Secrets): Fields {
  const unreadable = findUnreadable(run, index);
  if (unreadable !== null) throw new ActionRefused({ code: 'template_missing', message: unreadable });
  const written = storedParams(run, index);
  const filled = withDefaults(type.type, written, run.event, run);
  const result = renderTemplates(filled, run.event, {
    steps: run.answers,
    ...(secrets && { secrets: (name: string) => secrets.get(name) }),
  });
  if (result.ok) {
    const params = withDueDate(result.value as Fields, written, () => dayIn(run.schedule_timezone, run.queued_at));
    return type.complete?.(params, run.event) ?? params;
  }
  if ('secretMissing' in result) throw secretMissing(result.secretMissing, type.secrets !== undefined);
  if ('missing' in result) {
    if (result.missing.startsWith('steps.')) throw noAnswer(result.missing);
    const why = run.event_truncated ? ': it was too large to be kept whole, and was cut' : '';
    throw new ActionRefused({ code: 'template_missing', message: `The event has no ${result.missing}${why}` });
  }
  throw new ActionRefused({ code: result.code, message: result.message });
}

/**
 * Returns the parameters of an action, not validated. Behind a gate they are those of the text that was approved; nothing else is read, so that
 * no edit and no event changes what happens. Elsewhere they are filled in from the event.
 * @throws ActionRefused
 */
export function renderParams(type: ActionDescription, run: RunRow, index: number, secrets?: Secrets): Fields {
  const { staged, staged_hash } = run;
  if (staged == null || staged_hash == null) return renderFromEvent(type, run, index, secrets);
  const step = readTail({ staged, staged_hash }).actions.find((each) => each.index === index);
  if (!step?.params)
    throw new ActionRefused(step?.refused ?? { code: 'invalid_request', message: 'The action was not approved' });
  const values = Object.entries(step.secrets).map(([mark, name]): [string, string] => {
    const value = secrets?.get(name);
    if (value === undefined) throw secretMissing(name, type.secrets !== undefined);
    return [mark, value];
  });
  return replaceMarks(step.params, new Map(values)) as Fields;
}

/**
 * Validates parameters.
 * @throws INVALID_REQUEST
 */
export function parseParams<P>(type: ActionDescription<P>, given: unknown): P {
  const params = type.params.safeParse(given, ZOD_MESSAGES);
  if (params.success) return params.data;
  const [issue] = params.error.issues;
  throw invalid(issue ? buildSentence(issue, 'params') : 'The parameters are invalid');
}

/**
 * Returns the validated parameters of an action.
 * @throws ActionRefused | INVALID_REQUEST
 */
export const readParams = <P>(type: ActionDescription<P>, run: RunRow, index: number, secrets?: Secrets): P =>
  parseParams(type, renderParams(type, run, index, secrets));

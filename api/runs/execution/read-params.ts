import { invalid } from '../../core/errors.js';
import { sentenceOf, ZOD_MESSAGES } from '../../core/validation/messages.js';
import type { ActionDescription } from '../../actions/contract/action-type.js';
import { ActionRefused } from '../../actions/contract/action-refused.js';
import { withDefaults } from '../../actions/registry.js';
import { renderTemplates } from '../../automations/language/template.js';
import type { RunRow } from './load-run.js';

/** Returns the stored parameters of an action, under `params` or beside `type`. */
export function storedParams(run: RunRow, index: number): Record<string, unknown> {
  const action = run.actions[index] as { type: string; params?: Record<string, unknown> } & Record<string, unknown>;
  const { type: _type, name: _name, params, on_failure: _onFailure, retry: _retry, ...flat } = action;
  return params ?? flat;
}

/**
 * Fills in defaults and renders templates against the event; does not validate.
 * @throws ActionRefused
 */
export function renderParams(
  { type, secrets: sends }: ActionDescription,
  run: RunRow,
  index: number,
  secrets?: ReadonlyMap<string, string>,
) {
  const filled = withDefaults(type, storedParams(run, index), run.event, run);
  const result = renderTemplates(filled, run.event, secrets ? { secrets: (name) => secrets.get(name) } : {});
  if (result.ok) return result.value;
  if ('secretMissing' in result) {
    const { secretMissing: name } = result;
    const message = sends ? `Secret ${name} does not exist` : `This action does not support secrets: ${name}`;
    throw new ActionRefused({ code: 'secret_missing', message });
  }
  if ('missing' in result) {
    const why = run.event_truncated ? ': it was too large to be kept whole, and was cut' : '';
    throw new ActionRefused({ code: 'template_missing', message: `The event has no ${result.missing}${why}` });
  }
  throw new ActionRefused({ code: result.code, message: result.message });
}

/**
 * Returns an action's validated parameters. `secrets`: values, for outbound actions only.
 * @throws ActionRefused a template or a secret | INVALID_REQUEST naming the parameter, never a value
 */
export function readParams<P>(type: ActionDescription<P>, run: RunRow, index: number, secrets?: ReadonlyMap<string, string>): P {
  const params = type.params.safeParse(renderParams(type, run, index, secrets), ZOD_MESSAGES);
  if (params.success) return params.data;
  const [issue] = params.error.issues;
  throw invalid(issue ? sentenceOf(issue, 'params') : 'The parameters are invalid');
}

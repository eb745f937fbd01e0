import { GATE } from '../../../automation/actions/rules.js';
import { availableActions, isSent } from '../../../automation/actions/registry.js';
import type { Fields } from '../../server/read-form.js';
import { type BuilderForm, type FormStep, newStep, withType } from './builder-form.js';
import { addConditionRow } from './condition-form.js';
import { SUGGESTED_GATE } from './draft.js';

/** A form after one of its buttons, and the step that it is about. */
interface Edited {
  form: BuilderForm;
  focus: number | null;
}

function moved(steps: readonly FormStep[], from: number, to: number): FormStep[] {
  const [step] = steps.slice(from, from + 1);
  if (!step || to < 0 || to >= steps.length) return [...steps];
  return steps.toSpliced(from, 1).toSpliced(to, 0, step);
}

/** Appends a reference of a secret to the field that was chosen for it. */
function withSecret(step: FormStep, secret: unknown, into: unknown): FormStep {
  if (typeof secret !== 'string' || secret === '' || typeof into !== 'string') return step;
  const reference = `{{secret:${secret}}}`;
  const params = step.params.map((param) => (param.name === into ? { ...param, text: `${param.text}${reference}` } : param));
  return { ...step, params };
}

function added(steps: readonly FormStep[], type: unknown): Edited['focus'] | FormStep[] {
  const known = availableActions().find((each) => each.type === type);
  if (!known) return null;
  const step = newStep(known.type, known.type === GATE ? SUGGESTED_GATE.params : {});
  // What follows a request usually says that it has succeeded.
  return [...steps, { ...step, on_failure: isSent(known.type) ? 'stop' : '' }];
}

/** Returns the steps with another action in one of them. */
function retyped(steps: readonly FormStep[], at: number, type: unknown): FormStep[] {
  const known = availableActions().find((each) => each.type === type && each.type !== GATE);
  return steps.map((step, index) => (known && index === at && step.type !== GATE ? withType(step, known.type) : step));
}

/** Returns the form after a button: `add`, `gate`, `row`, or `up`, `down`, `remove`, `type` and `secret` with the number of a step, as `up:1`. */
export function editForm(form: BuilderForm, op: string, given: Fields): Edited {
  const [verb, number = ''] = op.split(':');
  const at = /^\d{1,2}$/.test(number) ? Number(number) : -1;
  const { steps } = form;
  const result = (changed: FormStep[], focus: number | null): Edited => ({ form: { ...form, steps: changed }, focus });
  switch (verb) {
    case 'add': {
      const more = added(steps, given['add_type']);
      return Array.isArray(more) ? result(more, more.length - 1) : result(steps, null);
    }
    case 'row': {
      const { rows } = addConditionRow({ text: form.fields.condition, rows: form.rows });
      return { form: { ...form, rows }, focus: null };
    }
    case 'gate':
      return result([newStep(SUGGESTED_GATE.type, SUGGESTED_GATE.params), ...steps], 0);
    case 'up':
      return result(moved(steps, at, at - 1), Math.max(0, at - 1));
    case 'down':
      return result(moved(steps, at, at + 1), Math.min(steps.length - 1, at + 1));
    case 'type':
      return result(retyped(steps, at, given[`s${at}.as`]), at);
    case 'remove':
      return result(
        steps.filter((_step, index) => index !== at),
        null,
      );
    case 'secret': {
      const place = `s${at}`;
      const changed = steps.map((step, index) =>
        index === at ? withSecret(step, given[`${place}.secret`], given[`${place}.into`]) : step,
      );
      return result(changed, at);
    }
    default:
      return result(steps, null);
  }
}

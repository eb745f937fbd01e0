import { readSchedule, type WrittenSchedule } from '../../../automation/definitions/schedule/written-schedule.js';
import { type FieldError, invalidFields } from '../../../platform/errors.js';
import type { OwnWords } from '../../../automation/language/condition-fields.js';
import type { Fields } from '../../server/read-form.js';
import { type Draft, type DraftAction, TEXT_FIELDS } from './draft.js';
import { conditionErrors, type ConditionForm, conditionForm, readConditionForm } from './condition-form.js';
import { decodeParam, encodeParam, type FieldKind, paramFields } from './param-fields.js';

/** A parameter in a form: its text as typed, in its own kind of field or as JSON. */
interface FormParam {
  name: string;
  isJson: boolean;
  text: string;
  /** Unit of a duration; empty for anything else. */
  unit: string;
}

/** One action in a form. */
export interface FormStep {
  type: string;
  name: string;
  /** Its condition. */
  if: string;
  on_failure: string;
  max_attempts: string;
  params: FormParam[];
  /** What was typed for another action, before this one was chosen: it comes back with that one, and is not saved. */
  aside: FormParam[];
}

/** The builder's form: texts as typed, so that a page shows again what cannot be read yet. */
export interface BuilderForm {
  fields: Record<(typeof TEXT_FIELDS)[number], string>;
  /** The text of the condition is that of the fields. */
  rows: ConditionForm['rows'];
  steps: FormStep[];
  /** What the team of the form names itself, which rows of conditions offer. */
  own?: OwnWords | undefined;
}

const STEP_FIELD = /^s(\d{1,2})\.(?:(type|name|if|on_failure|max_attempts)|(?:(k)\.)?([pju])\.(.+))$/s;

/** Returns the name of a parameter's field: `s0.p.title`, or `s0.j.title` where it holds JSON; `s0.u.title` is that of its unit. `s0.k.p.title` is kept aside. */
export const paramFieldName = (index: number, name: string, isJson: boolean): string => `s${index}.${isJson ? 'j' : 'p'}.${name}`;

const emptyStep = (): FormStep => ({ type: '', name: '', if: '', on_failure: '', max_attempts: '', params: [], aside: [] });

/** Reads the fields that a browser sent. Unknown ones do not count. */
export function readBuilderForm(given: Fields, own?: OwnWords): BuilderForm {
  const text = (name: string): string => (typeof given[name] === 'string' ? (given[name] as string) : '');
  const fields = Object.fromEntries(TEXT_FIELDS.map((name) => [name, text(name).replaceAll('\r\n', '\n')]));
  const steps: FormStep[] = [];
  const unitOf = (at: string, name: string): string => text(`s${at}.u.${name}`);
  for (const [name, value] of Object.entries(given)) {
    const [, at, own, kept, mark, param] = STEP_FIELD.exec(name) ?? [];
    if (at === undefined || typeof value !== 'string') continue;
    const step = (steps[Number(at)] ??= emptyStep());
    if (own) step[own as 'type'] = value;
    else if (param && mark !== 'u')
      step[kept ? 'aside' : 'params'].push({ name: param, isJson: mark === 'j', text: value, unit: unitOf(at, param) });
  }
  const typed = fields as BuilderForm['fields'];
  const { text: condition, rows } = readConditionForm(given, typed.condition, typed.trigger_type, own);
  return { fields: { ...typed, condition }, rows, steps: steps.filter((step) => step.type !== ''), own };
}

const kindOf = (type: string, { name, isJson }: FormParam): FieldKind =>
  isJson ? 'json' : (paramFields(type).find((field) => field.name === name)?.kind ?? 'json');

function decodeStep(step: FormStep, index: number, errors: FieldError[]): DraftAction {
  const params: [string, unknown][] = [];
  for (const param of step.params) {
    const read = decodeParam(kindOf(step.type, param), param.text, param.unit);
    if ('error' in read) {
      errors.push({ field: paramFieldName(index, param.name, param.isJson), message: read.error, type: 'custom' });
    } else if (read.value !== undefined) params.push([param.name, read.value]);
  }
  const attempts = step.max_attempts.trim();
  return {
    type: step.type,
    ...(step.name.trim() !== '' && { name: step.name }),
    ...(step.if.trim() !== '' && { if: step.if.replaceAll('\r\n', '\n') }),
    params: Object.fromEntries(params),
    ...(step.on_failure === 'stop' && { on_failure: 'stop' }),
    ...(attempts !== '' && { retry: { max_attempts: Number(attempts) } }),
  };
}

/** Words count for a schedule only; of another trigger the text stays as it is. */
const readTimes = ({ trigger_type, schedule_cron }: BuilderForm['fields']): WrittenSchedule =>
  trigger_type === 'schedule' ? readSchedule(schedule_cron, new Date().toISOString().slice(0, 10)) : { cron: schedule_cron };

const orNull = (text: string): string | null => (text === '' ? null : text);

/**
 * Returns the definition that a form describes, not checked yet.
 * @param found what else is wrong with it
 * @throws VALIDATION_ERROR naming the form's fields whose text cannot be read
 */
export function toDraft({ fields, rows, steps, own }: BuilderForm, found: readonly FieldError[] = []): Draft {
  const wrong = Object.entries(conditionErrors({ text: fields.condition, rows }, fields.trigger_type, own));
  const errors: FieldError[] = [...found, ...wrong.map(([field, message]) => ({ field, message, type: 'custom' }))];
  const actions = steps.map((step, index) => decodeStep(step, index, errors));
  const schedule = readTimes(fields);
  if ('problem' in schedule) errors.push({ field: 'schedule_cron', message: schedule.problem, type: 'custom' });
  if (errors.length > 0 || 'problem' in schedule) throw invalidFields(errors);
  return {
    name: fields.name,
    trigger_type: fields.trigger_type,
    description: orNull(fields.description),
    condition: orNull(fields.condition),
    schedule_cron: orNull(schedule.cron),
    schedule_timezone: orNull(fields.schedule_timezone),
    project_id: orNull(fields.project_id),
    actions,
  };
}

function toStep({ type, name, if: onlyIf, params, on_failure, retry }: DraftAction): FormStep {
  const fields = paramFields(type);
  return {
    type,
    name: name ?? '',
    if: onlyIf ?? '',
    on_failure: on_failure ?? '',
    max_attempts: retry === undefined ? '' : String(retry.max_attempts),
    aside: [],
    params: Object.entries(params).map(([key, value]) => {
      const field = fields.find((each) => each.name === key);
      const { kind, ...written } = encodeParam(field ?? { kind: 'json', options: [] }, value);
      return { name: key, isJson: kind === 'json' && field?.kind !== 'json', ...written };
    }),
  };
}

/** Returns a definition as a form. */
export const toForm = (draft: Draft, own?: OwnWords): BuilderForm => ({
  fields: Object.fromEntries(TEXT_FIELDS.map((name) => [name, draft[name] ?? ''])) as BuilderForm['fields'],
  rows: conditionForm(draft.condition ?? '', draft.trigger_type, own).rows,
  steps: draft.actions.map(toStep),
  own,
});

/**
 * Returns a step with another action: what both take stays, and what only the old one takes is kept aside. A gate releases what follows it, so it
 * becomes no other action, and none becomes a gate.
 */
export function withType(step: FormStep, type: string): FormStep {
  const names = paramFields(type).map(({ name }) => name);
  const filled = step.params.filter(({ text }) => text !== '');
  const all = [...filled, ...step.aside.filter(({ name }) => !filled.some((param) => param.name === name))];
  const isTaken = ({ name }: FormParam): boolean => names.includes(name);
  return { ...step, type, params: all.filter(isTaken), aside: all.filter((param) => !isTaken(param)) };
}

/** Returns a new step of a type. */
export const newStep = (type: string, params: Record<string, unknown> = {}): FormStep => toStep({ type, params });

import { readSchedule, type WrittenSchedule } from '../../../automation/definitions/schedule/written-schedule.js';
import { type FieldError, invalidFields } from '../../../platform/errors.js';
import type { Fields } from '../../server/read-form.js';
import { type Draft, type DraftAction, TEXT_FIELDS } from './draft.js';
import { conditionErrors, type ConditionForm, conditionForm, readConditionForm } from './condition-form.js';
import { CUSTOM_FIELDS as CUSTOM_PARAM } from '../../../gate/staging/custom-values.js';
import type { TeamWords } from './own-words.js';
import { joinStage, splitStage, STAGE, withStages } from './stage-choice.js';
import { decodeParam, encodeParam, type FieldKind, type ParamField, paramFields } from './param-fields.js';

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
  /** Its other fields are unfolded: any text. */
  open: string;
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
  own?: TeamWords | undefined;
}

const STEP_FIELD = /^s(\d{1,2})\.(?:(type|name|if|on_failure|max_attempts|open)|(?:(k)\.)?([pju])\.(.+))$/s;

/** Returns the name of a parameter's field: `s0.p.title`, or `s0.j.title` where it holds JSON; `s0.u.title` is that of its unit. `s0.k.p.title` is kept aside. */
export const paramFieldName = (index: number, name: string, isJson: boolean): string => `s${index}.${isJson ? 'j' : 'p'}.${name}`;

const emptyStep = (): FormStep => ({
  type: '',
  name: '',
  if: '',
  on_failure: '',
  max_attempts: '',
  open: '',
  params: [],
  aside: [],
});

/** Reads the fields that a browser sent. Unknown ones do not count. */
export function readBuilderForm(given: Fields, own?: TeamWords): BuilderForm {
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

/** Returns the parameters of an action as form fields: each custom field of the team in place of the one that holds them all, and its stages as statuses. */
export const fieldsOfStep = (type: string, own?: TeamWords): readonly ParamField[] =>
  paramFields(type).flatMap((field) => (field.name === CUSTOM_PARAM ? (own?.params ?? []) : [withStages(field, type, own)]));

const kindOf = (type: string, { name, isJson }: FormParam, own: TeamWords | undefined): FieldKind =>
  isJson ? 'json' : (fieldsOfStep(type, own).find((field) => field.name === name)?.kind ?? 'json');

const OF_CUSTOM = `${CUSTOM_PARAM}.`;

/** Puts the values of custom fields, each of which is one field of a form, into the parameter that holds them all. */
function joinCustom(params: readonly [string, unknown][]): Record<string, unknown> {
  const custom = params.flatMap(([name, value]) => (name.startsWith(OF_CUSTOM) ? [[name.slice(OF_CUSTOM.length), value]] : []));
  const others = params.filter(([name]) => !name.startsWith(OF_CUSTOM));
  return Object.fromEntries(custom.length === 0 ? others : [...others, [CUSTOM_PARAM, Object.fromEntries(custom) as unknown]]);
}

/** Keys and ids of fields; what is called otherwise stays in the one parameter, as JSON. */
const KEY = /^[a-z0-9][\w-]{0,127}$/;

/** Does the opposite: parameters as a form has them. */
function splitCustom([name, value]: [string, unknown]): [string, unknown][] {
  if (name !== CUSTOM_PARAM || typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]];
  const each = Object.entries(value);
  const isPlain = each.length > 0 && each.every(([key]) => KEY.test(key));
  return isPlain ? each.map(([key, one]): [string, unknown] => [`${OF_CUSTOM}${key}`, one]) : [[name, value]];
}

function decodeStep(step: FormStep, index: number, errors: FieldError[], own: TeamWords | undefined): DraftAction {
  const params: [string, unknown][] = [];
  for (const param of step.params) {
    const read = decodeParam(kindOf(step.type, param, own), param.text, param.unit);
    if ('error' in read) {
      errors.push({ field: paramFieldName(index, param.name, param.isJson), message: read.error, type: 'custom' });
    } else if (read.value !== undefined) params.push([param.name, read.value]);
  }
  const attempts = step.max_attempts.trim();
  const split = splitStage(step.type, params, own);
  if (split.params.filter(([name]) => name === STAGE).length > 1)
    errors.push({
      field: paramFieldName(index, STAGE, false),
      message: 'Choose a stage once: here or as the status',
      type: 'custom',
    });
  return {
    type: split.type,
    ...(step.name.trim() !== '' && { name: step.name }),
    ...(step.if.trim() !== '' && { if: step.if.replaceAll('\r\n', '\n') }),
    params: joinCustom(split.params),
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
  const actions = steps.map((step, index) => decodeStep(step, index, errors, own));
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

function toStep({ type, name, if: onlyIf, params, on_failure, retry }: DraftAction, own: TeamWords | undefined): FormStep {
  const fields = fieldsOfStep(type, own);
  return {
    type,
    name: name ?? '',
    if: onlyIf ?? '',
    on_failure: on_failure ?? '',
    max_attempts: retry === undefined ? '' : String(retry.max_attempts),
    open: '',
    aside: [],
    params: joinStage(type, Object.entries(params).flatMap(splitCustom), own).map(([key, value]) => {
      const field = fields.find((each) => each.name === key);
      const { kind, ...written } = encodeParam(field ?? { kind: 'json', options: [] }, value);
      return { name: key, isJson: kind === 'json' && field?.kind !== 'json', ...written };
    }),
  };
}

/** Returns a definition as a form. */
export const toForm = (draft: Draft, own?: TeamWords): BuilderForm => ({
  fields: Object.fromEntries(TEXT_FIELDS.map((name) => [name, draft[name] ?? ''])) as BuilderForm['fields'],
  rows: conditionForm(draft.condition ?? '', draft.trigger_type, own).rows,
  steps: draft.actions.map((action) => toStep(action, own)),
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
  const isTaken = ({ name }: FormParam): boolean => names.includes(name.startsWith(OF_CUSTOM) ? CUSTOM_PARAM : name);
  return { ...step, type, params: all.filter(isTaken), aside: all.filter((param) => !isTaken(param)) };
}

/** Returns a new step of a type. */
export const newStep = (type: string, params: Record<string, unknown> = {}): FormStep => toStep({ type, params }, undefined);

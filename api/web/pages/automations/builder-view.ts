import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { DELAY, GATE } from '../../../automation/actions/rules.js';
import { availableActions, isSent, outboundTypes } from '../../../automation/actions/registry.js';
import { getWorkAction } from '../../../automation/actions/work-actions.js';
import type { AutomationRecord } from '../../../automation/definitions/schema.js';
import { TRIGGERS } from '../../../automation/language/triggers.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import type { FormError, View } from '../../page.js';
import { type BuilderForm, fieldsOfStep, type FormStep, paramFieldName } from './builder-form.js';
import { showConditionRows } from './condition-form.js';
import { checkOnSample, checkStepOnSample } from './condition.js';
import { namePlace } from '../../wording/field-texts.js';
import { isNeeded } from './missing-fields.js';
import { type Choices, listChoices, MAX_CHOICES, namesFor, titlesIn, withNames } from './named-ids.js';
import { checkTyped } from './schedule.js';
import { STAGE, withLostStage } from './stage-choice.js';
import { type ParamField, UNITS } from './param-fields.js';

/** Empty fields that a step shows at once if it has none to begin with. */
const FEW = 4;
/** Actions beside those on work items whose fields a browser may keep: people paste secrets into the others. */
const KEPT = ['notify', 'move_to_cycle'];
/** Unit of an empty duration. */
const DEFAULT_UNIT = 'hours';

/** What is edited, and as what it is saved. */
export interface Target {
  teamId: string | null;
  /** The automation that is edited, at the version that the user has seen; null for a new one. */
  automation: Pick<AutomationRecord, 'automation_id' | 'name' | 'version'> | null;
  version: number | null;
  template: string | null;
}

/** What the user has typed, besides the form. */
export interface Shown {
  form: BuilderForm;
  /** The definition as JSON, where that tab is open. */
  json?: string;
  problem?: FormError;
  focus?: number | null;
  isActive?: boolean;
  changeNote?: string;
}

/** Returns the messages by field; those of an operation name the field in their text. */
function fieldErrors(problem: FormError | undefined, steps: readonly FormStep[]): Record<string, string> {
  if (!problem) return {};
  const found = Object.entries(problem.fields).map(([name, text]): [string, string] => {
    const [, index, rest] = /^actions\.(\d+)\.(.+)$/.exec(name) ?? [];
    return index === undefined ? [name, text] : [`s${index}.${rest?.replace('retry.', '')}`, text];
  });
  const [, own, said] =
    /^(condition|schedule_cron|schedule_timezone|trigger_type|project_id): (.+)$/s.exec(problem.message) ?? [];
  if (own && said) found.push([own, said]);
  const [, index, param, why] = /^actions\[(\d+)\](?:\.params)?(?:\.(\w+))?[^\s:]*:?\s(.+)$/s.exec(problem.message) ?? [];
  if (index !== undefined && why) {
    found.push([`s${index}`, namePlace(problem.message, steps)]);
    const said = why.charAt(0).toUpperCase() + why.slice(1);
    if (param) found.push([`s${index}.p.${param}`, said], [`s${index}.j.${param}`, said]);
  }
  return Object.fromEntries(found);
}

/** What the fields of a step depend on besides it. */
interface Around {
  fields: BuilderForm['fields'];
  own: BuilderForm['own'];
  errors: Readonly<Record<string, string>>;
  choices: Choices;
  titles: ReadonlyMap<string, string>;
}

/** Returns a step with a field for each parameter: those that are required, filled or looked for first, then the others. */
function toStepView(step: FormStep, index: number, { fields: typedFields, own, errors, choices, titles }: Around) {
  const known = fieldsOfStep(step.type, own);
  const unknown: ParamField[] = step.params
    .filter(({ name }) => !known.some((field) => field.name === name))
    .map(({ name }) => ({
      name,
      label: name,
      kind: 'json',
      isRequired: false,
      isDefaulted: false,
      isMain: false,
      hint: null,
      options: [],
      optionTexts: {},
    }));
  const sent = new Map(step.params.map((param) => [param.name, param]));
  // A team chooses a stage as the status; only what is no such choice has a field of its own.
  const isApart = ({ name }: { name: string }): boolean => name !== STAGE || !own || (sent.get(STAGE)?.text ?? '') !== '';
  const fields = [...known, ...unknown].filter(isApart).map((field) => {
    const typed = sent.get(field.name);
    const isJson = typed?.isJson ?? false;
    const input = paramFieldName(index, field.name, isJson);
    return {
      ...(typed ? withLostStage(field, typed.text) : field),
      kind: isJson ? 'json' : field.kind,
      input,
      isRequired: isNeeded(field, step.type, typedFields),
      text: isJson ? (typed?.text ?? '') : withNames(field.name, typed?.text ?? '', choices, titles),
      names: namesFor(field.name),
      unit: typed ? typed.unit || 'seconds' : DEFAULT_UNIT,
      unitInput: `s${index}.u.${field.name}`,
      units: Object.keys(UNITS),
      error: errors[input] ?? (field.groups && !sent.has(STAGE) ? errors[paramFieldName(index, STAGE, false)] : undefined),
    };
  });
  const isFirst = ({ text, isRequired, isMain, error }: (typeof fields)[number]): boolean =>
    text !== '' || isRequired || isMain || error !== undefined;
  const rest = fields.filter((field) => !isFirst(field));
  const few = rest.length < fields.length ? 0 : FEW;
  const action = availableActions().find(({ type }) => type === step.type);
  return {
    ...step,
    index,
    label: action?.label ?? step.type,
    isGate: step.type === GATE,
    isKept: [GATE, DELAY, ...KEPT].includes(step.type) || getWorkAction(step.type) !== undefined,
    getsAnswer: isSent(step.type),
    takesSecrets: outboundTypes()[step.type]?.secrets !== undefined,
    fields: [...fields.filter(isFirst), ...rest.slice(0, few)],
    more: rest.slice(few),
    error: errors[`s${index}`],
    check: checkStepOnSample(typedFields.trigger_type, step.if, own),
    errors,
  };
}

/** Lists the teams to choose from: those where the user may create, and the chosen one, which another may have closed to them meanwhile. */
function listTeams(me: User, { automation, teamId }: Target): { team_id: string; name: string }[] {
  const teams = me.teams.filter(({ role }) => isAllowed('automation.write', role as Seat));
  if (automation || teamId === null || teams.some(({ team_id }) => team_id === teamId)) return teams;
  const chosen = me.teams.find(({ team_id }) => team_id === teamId);
  return [...teams, { team_id: teamId, name: `${chosen?.name ?? 'A team you are not in'} (you cannot create automations here)` }];
}

/** Renders the builder. */
export async function showBuilder(ctx: Context, me: User, target: Target, shown: Shown): Promise<View> {
  const { form, json, problem, focus = null, isActive = false, changeNote = '' } = shown;
  const errors = fieldErrors(problem, form.steps);
  const [choices, titles] = await Promise.all([listChoices(ctx, me, target.teamId), titlesIn(ctx, me, form)]);
  const around = { fields: form.fields, own: form.own, errors, choices, titles };
  const { automation, template } = target;
  const data = {
    target,
    path: automation ? `/app/automations/${automation.automation_id}/edit` : '/app/automations/new',
    teams: listTeams(me, target),
    fields: form.fields,
    steps: form.steps.map((step, index) => toStepView(step, index, around)),
    hasGate: form.steps.some(({ type }) => type === GATE),
    isFree: form.steps.length > 0 && form.steps[0]?.type !== GATE,
    json,
    problem: problem && { ...problem, message: namePlace(problem.message, form.steps) },
    errors,
    focus,
    isActive,
    // What is wrong is mended first: no page offers to enable what it marks.
    mayEnable: problem === undefined,
    changeNote,
    template,
    condition: showConditionRows({ text: form.fields.condition, rows: form.rows }, form.fields.trigger_type, form.own),
    check: checkOnSample(form.fields.trigger_type, form.fields.condition, form.own),
    schedule: checkTyped(form.fields.schedule_cron, form.fields.schedule_timezone),
    triggers: TRIGGERS.filter(({ available }) => available),
    actions: availableActions().map(({ type, label }) => ({ type, label })),
    ...choices,
    offered: MAX_CHOICES,
  };
  const title = automation ? `Edit ${automation.name}` : 'New automation';
  return { view: 'automations/builder', title, data, scripts: ['builder.js', 'drafts.js'] };
}

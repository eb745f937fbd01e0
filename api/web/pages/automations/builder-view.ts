import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { GATE } from '../../../automation/actions/rules.js';
import { availableActions, outboundTypes } from '../../../automation/actions/registry.js';
import type { AutomationRecord } from '../../../automation/definitions/schema.js';
import { TRIGGERS } from '../../../automation/language/triggers.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import type { FormError, View } from '../../page.js';
import { type BuilderForm, type FormStep, paramFieldName } from './builder-form.js';
import { showConditionRows } from './condition-form.js';
import { checkOnSample } from './condition.js';
import { listChoices } from './named-ids.js';
import { checkTyped } from './schedule.js';
import { paramFields, UNITS } from './param-fields.js';

/** Empty optional fields that a step shows at once if it requires none. */
const FEW = 4;
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
function fieldErrors(problem: FormError | undefined): Record<string, string> {
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
    found.push([`s${index}`, problem.message]);
    if (param) found.push([`s${index}.p.${param}`, why], [`s${index}.j.${param}`, why]);
  }
  return Object.fromEntries(found);
}

/** Returns a step with a field for each parameter: those that are required or filled, then the others. */
function toStepView(step: FormStep, index: number, errors: Readonly<Record<string, string>>) {
  const known = paramFields(step.type);
  const unknown = step.params
    .filter(({ name }) => !known.some((field) => field.name === name))
    .map(({ name }) => ({
      name,
      label: name,
      kind: 'json' as const,
      isRequired: false,
      hint: null,
      options: [],
      optionTexts: {},
    }));
  const sent = new Map(step.params.map((param) => [param.name, param]));
  const fields = [...known, ...unknown].map((field) => {
    const typed = sent.get(field.name);
    const isJson = typed?.isJson ?? false;
    const input = paramFieldName(index, field.name, isJson);
    return {
      ...field,
      kind: isJson ? 'json' : field.kind,
      input,
      text: typed?.text ?? '',
      unit: typed ? typed.unit || 'seconds' : DEFAULT_UNIT,
      unitInput: `s${index}.u.${field.name}`,
      units: Object.keys(UNITS),
      error: errors[input],
    };
  });
  const isFilled = ({ text, isRequired, error }: (typeof fields)[number]): boolean =>
    text !== '' || isRequired || error !== undefined;
  const rest = fields.filter((field) => !isFilled(field));
  const few = fields.some(({ isRequired }) => isRequired) ? 0 : FEW;
  const action = availableActions().find(({ type }) => type === step.type);
  return {
    ...step,
    index,
    label: action?.label ?? step.type,
    isGate: step.type === GATE,
    takesSecrets: outboundTypes()[step.type]?.secrets !== undefined,
    fields: [...fields.filter(isFilled), ...rest.slice(0, few)],
    more: rest.slice(few),
    error: errors[`s${index}`],
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
  const errors = fieldErrors(problem);
  const { automation, template } = target;
  const data = {
    target,
    path: automation ? `/app/automations/${automation.automation_id}/edit` : '/app/automations/new',
    teams: listTeams(me, target),
    fields: form.fields,
    steps: form.steps.map((step, index) => toStepView(step, index, errors)),
    hasGate: form.steps.some(({ type }) => type === GATE),
    isFree: form.steps.length > 0 && form.steps[0]?.type !== GATE,
    json,
    problem,
    errors,
    focus,
    isActive,
    // What is wrong is mended first: no page offers to enable what it marks.
    mayEnable: problem === undefined,
    changeNote,
    template,
    condition: showConditionRows({ text: form.fields.condition, rows: form.rows }, form.fields.trigger_type),
    check: checkOnSample(form.fields.trigger_type, form.fields.condition),
    schedule: checkTyped(form.fields.schedule_cron, form.fields.schedule_timezone),
    triggers: TRIGGERS.filter(({ available }) => available),
    actions: availableActions().map(({ type, label }) => ({ type, label })),
    ...(await listChoices(ctx, me, target.teamId)),
  };
  const title = automation ? `Edit ${automation.name}` : 'New automation';
  return { view: 'automations/builder', title, data, scripts: ['builder.js'] };
}

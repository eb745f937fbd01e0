import { withDefaults } from '../../../automation/actions/registry.js';
import { TRIGGERS } from '../../../automation/language/triggers.js';
import type { FieldError } from '../../../platform/errors.js';
import { type BuilderForm, type FormStep, paramFieldName } from './builder-form.js';
import { type ParamField, paramFields } from './param-fields.js';

const NOTIFY = 'notify';

/** Whether no event of a trigger has what a step takes from it. One that is started manually may have any event. */
function isAbsent(type: string, name: string, { trigger_type, project_id }: BuilderForm['fields']): boolean {
  const trigger = TRIGGERS.find(({ key }) => key === trigger_type);
  if (!trigger || trigger_type === 'manual') return false;
  return withDefaults(type, {}, trigger.sample_payload, { project_id: project_id || null })[name] === undefined;
}

/** Whether a step cannot do without a field: its action requires it, or the events of the trigger do not have it. */
export const isNeeded = (field: ParamField, type: string, fields: BuilderForm['fields']): boolean =>
  field.isRequired || (field.isDefaulted && isAbsent(type, field.name, fields));

const textOf = ({ params }: FormStep, name: string): string => params.find((param) => param.name === name)?.text.trim() ?? '';

/** Says who is notified: people or a role. */
function recipientProblem(step: FormStep): string | undefined {
  const [people, role] = ['user_ids', 'role'].map((name) => textOf(step, name));
  if (people === '' && role === '') return 'Name people, or choose a role';
  return people !== '' && role !== '' ? 'Name people or choose a role, not both' : undefined;
}

function listMissing(step: FormStep, index: number, fields: BuilderForm['fields']): FieldError[] {
  const found = paramFields(step.type)
    .filter((field) => isNeeded(field, step.type, fields) && textOf(step, field.name) === '')
    .map(({ name, label, isDefaulted }) => ({
      field: paramFieldName(index, name, false),
      message: isDefaulted ? `${label} is required: the events of this trigger have none` : `${label} is required`,
      type: 'custom',
    }));
  const recipients = step.type === NOTIFY ? recipientProblem(step) : undefined;
  if (recipients === undefined) return found;
  return [...found, { field: paramFieldName(index, 'user_ids', false), message: recipients, type: 'custom' }];
}

/** Returns what is wrong with empty fields of a form that is to be saved. */
export function findMissing({ fields, steps }: BuilderForm): FieldError[] {
  const name = fields.name.trim() === '' ? [{ field: 'name', message: 'A name is required', type: 'custom' }] : [];
  return [...name, ...steps.flatMap((step, index) => listMissing(step, index, fields))];
}

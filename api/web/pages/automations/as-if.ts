import type { AutomationRecord } from '../../../automation/definitions/schema.js';
import { listComparedTexts } from '../../../automation/language/compared-choices.js';
import { keyOfTrigger } from '../../../automation/runs/dispatch/task-events.js';
import { invalidFields } from '../../../platform/errors.js';
import type { TeamWords } from './own-words.js';

/** The custom field whose change an automation waits for, with the values that a dry run can give it. */
export interface AsIf {
  name: string;
  choices: { value: string; label: string }[];
  /** The choice that the condition compares with; empty if it cannot be read from it. */
  compared: string;
  /** Whether a task has several of the choices. */
  isMany: boolean;
}

/** Returns what a dry run can suppose of the field that a condition names; undefined where it names none with choices. */
export function findAsIf(automation: AutomationRecord, own: TeamWords | undefined): AsIf | undefined {
  const key = keyOfTrigger(automation);
  const field = own?.withChoices.find((one) => one.key === key);
  if (!field) return undefined;
  const choices = field.options.map(({ value, label }) => ({ value, label: label ?? value }));
  const compared = listComparedTexts(automation.condition ?? '').flatMap(({ as, texts }) =>
    as === 'key' ? [] : choices.filter((choice) => texts.includes(as === 'label' ? choice.label : choice.value)),
  );
  return { name: field.name, choices, compared: compared[0]?.value ?? '', isMany: field.field_type === 'multi_select' };
}

/** Returns the value of the field that a form supposes; undefined for what the task has. @throws VALIDATION_ERROR none of its choices */
export function readAsIf(asIf: AsIf | undefined, becomes: string | undefined): unknown {
  if (!asIf || !becomes) return undefined;
  if (asIf.choices.some(({ value }) => value === becomes)) return asIf.isMany ? [becomes] : becomes;
  throw invalidFields([{ field: 'becomes', message: `${asIf.name} has no such choice any more`, type: 'custom' }]);
}

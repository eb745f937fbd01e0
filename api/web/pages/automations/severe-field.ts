import { FIELD_KEY } from '../../../automation/language/condition-fields.js';
import { keyOfCondition } from '../../../automation/language/condition-rows.js';
import { TRIGGERS } from '../../../automation/language/triggers.js';
import type { CustomFieldRecord } from '../../../work/custom-fields/schema.js';
import type { Draft } from './draft.js';
import type { TeamWords } from './own-words.js';

/** A custom field of a team with the choice that means most. */
interface Severe {
  field: CustomFieldRecord;
  choice: CustomFieldRecord['options'][number];
}

const SEVERE_FIELD = /sever|priorit|urgen|impact/i;
/** Teams list choices either way round; without such a word the first counts. */
const SEVERE_CHOICE = /\bcritical|\bblocker|\bhighest|\burgent|\bs1\b|\bsev-?1\b|\bp0\b/i;

/** Finds the field of a key, else the one of the team that says how severe a task is, else its first one with choices. */
function findSevere(own: TeamWords | undefined, key?: string): Severe | undefined {
  const selects = (own?.withChoices ?? []).filter(({ field_type }) => field_type === 'select');
  const field = selects.find((one) => one.key === key) ?? selects.find(({ name }) => SEVERE_FIELD.test(name)) ?? selects[0];
  const choice = field?.options.find(({ value, label }) => SEVERE_CHOICE.test(`${value} ${label ?? ''}`)) ?? field?.options[0];
  return field && choice && { field, choice };
}

/** Returns a definition that waits for the most severe choice of a field of the team; undefined where the team has no such field. */
export function withSevereField(draft: Draft, own: TeamWords | undefined): Draft | undefined {
  const found = findSevere(own);
  if (!found) return undefined;
  const [key, value] = [found.field.key, found.choice.value].map((text) => JSON.stringify(text));
  return { ...draft, condition: `${FIELD_KEY} == ${key} && event.changes.value.to == ${value}` };
}

/** Returns the sample of a trigger; one of a changed field is about a field of the team, if it has one with choices: the one that the condition names. */
export function sampleFor(triggerType: string, condition: string | null, own: TeamWords | undefined): Record<string, unknown> {
  const sample = TRIGGERS.find(({ key }) => key === triggerType)?.sample_payload ?? {};
  const found = triggerType === 'task.field_changed' && findSevere(own, keyOfCondition(condition ?? ''));
  if (!found) return sample;
  const { field, choice } = found;
  return {
    ...sample,
    task: { ...(sample['task'] as object), custom_fields: { [field.key]: choice.value } },
    field: { field_id: field.field_id, key: field.key, name: field.name, type: field.field_type },
    changes: { value: { from: null, to: choice.value }, text: { from: null, to: choice.label ?? choice.value } },
  };
}

import { type ConditionField, CUSTOM_FIELDS, type OwnWords } from '../../../automation/language/condition-fields.js';
import { CUSTOM_FIELDS as CUSTOM_PARAM } from '../../../gate/staging/custom-values.js';
import type { User } from '../../../identity/auth/schema.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import type { Member } from '../../../identity/teams/schema.js';
import type { Context } from '../../../platform/context.js';
import { fieldTitle } from '../../../work/custom-fields/field-title.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import type { CustomFieldRecord } from '../../../work/custom-fields/schema.js';
import type { ParamField } from './param-fields.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';
import type { Stage } from '../../../work/tasks/stages/places.js';

/** Custom fields that a step shows at once. */
const SHOWN_AT_ONCE = 6;
/** Choices that a hint lists. */
const MAX_LISTED = 20;

type Described = Pick<ConditionField, 'kind' | 'values' | 'texts'>;

/** Returns what a condition may compare a custom field with. */
function describe({ field_type, options }: CustomFieldRecord, members: readonly Member[]): Described {
  const texts = Object.fromEntries(options.map(({ value, label }) => [value, label ?? value]));
  switch (field_type) {
    case 'number':
      return { kind: 'number' };
    case 'boolean':
      return { kind: 'flag' };
    case 'multi_select':
      return { kind: 'list', values: Object.keys(texts), texts };
    case 'select':
      return { kind: 'text', values: options.map(({ value }) => value), texts };
    case 'user': {
      const names = Object.fromEntries(members.map(({ user_id, display_name }) => [user_id, display_name]));
      return { kind: 'text', values: Object.keys(names), texts: names };
    }
    default:
      return { kind: 'text' };
  }
}

/** Fields of the tasks of a team, without archived ones; those of another team are not listed. */
const listTaskFields = async (ctx: Context, teamId: string): Promise<CustomFieldRecord[]> =>
  (await listFields(ctx, { team_id: teamId, entity_type: 'task' })).filter(({ is_archived }) => !is_archived);

/** What a team names itself, as conditions and actions of the builder use it. */
export interface TeamWords extends OwnWords {
  /** Its stages, of which `stages` has the names. */
  places: readonly Stage[];
  /** Its fields with choices. */
  withChoices: readonly CustomFieldRecord[];
  /** Parameters of an action that sets custom fields, each with a field of the form. */
  params: readonly ParamField[];
}

const INPUTS: Partial<Record<CustomFieldRecord['field_type'], Pick<ParamField, 'kind' | 'hint'>>> = {
  number: { kind: 'number', hint: null },
  boolean: { kind: 'flag', hint: null },
  multi_select: { kind: 'list', hint: null },
  date: { kind: 'text', hint: 'A date, such as 2026-12-01' },
};

/** Returns the form field of an action that sets a custom field. */
function toParam({ key, name, field_type }: CustomFieldRecord, { values, texts = {} }: Described, isMain: boolean): ParamField {
  const isOne = field_type === 'select' || field_type === 'user';
  const { kind, hint }: Pick<ParamField, 'kind' | 'hint'> = INPUTS[field_type] ?? { kind: isOne ? 'choice' : 'text', hint: null };
  const choices = Object.values(texts).slice(0, MAX_LISTED).join(', ');
  return {
    name: `${CUSTOM_PARAM}.${key}`,
    label: fieldTitle(name),
    kind,
    isRequired: false,
    isDefaulted: false,
    isMain,
    hint: field_type === 'multi_select' ? `One on each line: ${choices}` : hint,
    options: kind === 'flag' ? ['true', 'false'] : isOne ? (values ?? []) : [],
    optionTexts: texts,
  };
}

/** Returns the stages and custom fields of a team of the user, as conditions and actions name them; undefined for a personal automation. */
export async function readOwnWords(ctx: Context, me: User, teamId: string | null): Promise<TeamWords | undefined> {
  if (teamId === null || !me.teams.some(({ team_id }) => team_id === teamId)) return undefined;
  const [stages, fields] = await Promise.all([findStages(ctx, [teamId]), listTaskFields(ctx, teamId)]);
  const members = fields.some(({ field_type }) => field_type === 'user') ? await listMembers(ctx, teamId) : [];
  const described = fields.map((field) => ({ field, what: describe(field, members) }));
  return {
    stages: stages.map(({ name }) => name),
    places: stages,
    withChoices: fields.filter(({ options }) => options.length > 0),
    fields: described.map(({ field, what }) => ({
      path: `${CUSTOM_FIELDS}.${field.key}`,
      name: `task › ${fieldTitle(field.name)}`,
      ...what,
    })),
    params: described.map(({ field, what }, at) => toParam(field, what, at < SHOWN_AT_ONCE)),
  };
}

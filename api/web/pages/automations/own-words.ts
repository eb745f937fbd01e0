import { type ConditionField, CUSTOM_FIELDS, type OwnWords } from '../../../automation/language/condition-fields.js';
import type { User } from '../../../identity/auth/schema.js';
import { listMembers } from '../../../identity/teams/list-members.js';
import type { Member } from '../../../identity/teams/schema.js';
import type { Context } from '../../../platform/context.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import type { CustomFieldRecord } from '../../../work/custom-fields/schema.js';
import { findStages } from '../../../work/tasks/stages/find-stages.js';

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

/** Returns the stages and custom fields of a team of the user, as conditions name them; undefined for a personal automation. */
export async function readOwnWords(ctx: Context, me: User, teamId: string | null): Promise<OwnWords | undefined> {
  if (teamId === null || !me.teams.some(({ team_id }) => team_id === teamId)) return undefined;
  const [stages, fields] = await Promise.all([findStages(ctx, [teamId]), listTaskFields(ctx, teamId)]);
  const members = fields.some(({ field_type }) => field_type === 'user') ? await listMembers(ctx, teamId) : [];
  return {
    stages: stages.map(({ name }) => name),
    fields: fields.map((field) => ({
      path: `${CUSTOM_FIELDS}.${field.key}`,
      name: `task › ${field.name}`,
      ...describe(field, members),
    })),
  };
}

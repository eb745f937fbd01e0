import type { FieldEntity, FieldType } from '../../api/work/custom-fields/rules.js';
import type { TestApp } from '../support/app.js';
import type { TestTeam } from './people.js';

export interface TestField {
  field_id: string;
  key: string;
}

/** A field defined by the team's manager over the API; a select has the choices `high` and `low`. */
export async function createField(
  app: TestApp,
  team: TestTeam,
  field_type: FieldType,
  fields: { entity_type?: FieldEntity } & Record<string, unknown> = {},
): Promise<TestField> {
  const options = field_type === 'select' || field_type === 'multi_select' ? [{ value: 'high' }, { value: 'low' }] : [];
  const body = { team_id: team.team_id, name: `A ${field_type}`, field_type, entity_type: 'task', options, ...fields };
  const made = await app.as(team.manager).post('/api/custom-fields', body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body as TestField;
}

/** Sets values of tasks as the team's member. */
export async function setFields(
  app: TestApp,
  team: TestTeam,
  values: { field: TestField; task_id: string; value: unknown }[],
): Promise<void> {
  const body = values.map(({ field, task_id, value }) => ({
    field_id: field.field_id,
    entity_type: 'task',
    entity_id: task_id,
    value,
  }));
  const answer = await app.as(team.member).put('/api/custom-fields/values', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

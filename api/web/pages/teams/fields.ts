import { z } from 'zod';
import { createField } from '../../../work/custom-fields/create-field.js';
import { deleteField } from '../../../work/custom-fields/delete-field.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import { FIELD_TYPE_RULES } from '../../../work/custom-fields/field-types.js';
import { FIELD_ENTITIES, FIELD_TYPES } from '../../../work/custom-fields/rules.js';
import { CreateCustomField, CustomFieldParams } from '../../../work/custom-fields/schema.js';
import { updateField } from '../../../work/custom-fields/update-field.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { getTeam } from '../../../identity/teams/get-team.js';
import { TeamParams } from '../../../identity/teams/schema.js';
import { type FormError, page, type Page, type PageRequest, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

/** Returns the path of the page of a team's custom fields. */
export const fieldsPath = (teamId: string) => `/app/teams/${teamId}/fields`;
const FieldPageParams = TeamParams.extend(CustomFieldParams.shape);

/** Reads choices that stand one a line; empty lines are none. */
export const readChoices = (text: string): { value: string }[] =>
  text.split(/\r?\n/).flatMap((line) => (line.trim() === '' ? [] : [{ value: line.trim() }]));

/** The fields of the API, with the choices one a line. */
const FieldForm = z.object({
  name: CreateCustomField.shape.name,
  field_type: CreateCustomField.shape.field_type,
  entity_type: CreateCustomField.shape.entity_type,
  options: z.string().default('').transform(readChoices).pipe(CreateCustomField.shape.options.unwrap().unwrap()),
  required: z
    .string()
    .optional()
    .transform((value) => value !== undefined),
});

async function showFields(
  { ctx, me }: Pick<PageRequest, 'ctx' | 'me'>,
  teamId: string,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const [team, fields] = await Promise.all([getTeam(ctx, teamId), listFields(ctx, { team_id: teamId })]);
  const seat = (requireUser({ me }).teams.find(({ team_id }) => team_id === teamId)?.role ?? null) as Seat | null;
  const manages = isAllowed('custom_field.manage', seat);
  const { problem, given = {} } = refused;
  const data = { team, fields, manages, problem, given, types: FIELD_TYPES, rules: FIELD_TYPE_RULES, entities: FIELD_ENTITIES };
  return { view: 'teams/fields', title: 'Custom fields', data };
}

/** Why a button of the list was refused, on the page of the list. */
export const bounced = ({ params }: { params: { team_id: string } }, { message }: FormError) =>
  Promise.resolve({ to: fieldsPath(params.team_id), notice: { kind: 'bad' as const, text: message } });

export const fieldsPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/fields',
    access: 'custom_field.list',
    params: TeamParams,
    handle: (visit) => showFields(visit, visit.params.team_id),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/fields',
    access: 'custom_field.manage',
    params: TeamParams,
    form: FieldForm,
    async handle({ ctx, params: { team_id }, form }) {
      const field = await createField(ctx, { team_id, ...form });
      return { to: fieldsPath(team_id), notice: { kind: 'good', text: `${field.name} was created with the key ${field.key}.` } };
    },
    onError: (visit, problem) => showFields(visit, visit.params.team_id, { problem, given: visit.form }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/fields/:field_id/archive',
    access: 'custom_field.manage',
    params: FieldPageParams,
    form: z.object({ is_archived: z.enum(['true', 'false']).transform((value) => value === 'true') }),
    async handle({ ctx, params: { team_id, field_id }, form }) {
      const { name, is_archived } = await updateField(ctx, field_id, form);
      return { to: fieldsPath(team_id), notice: { kind: 'good', text: `${name} was ${is_archived ? 'archived' : 'restored'}.` } };
    },
    onError: bounced,
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/fields/:field_id/delete',
    access: 'custom_field.manage',
    params: FieldPageParams,
    async handle({ ctx, params: { team_id, field_id } }) {
      const deleted = await deleteField(ctx, field_id);
      return { to: fieldsPath(team_id), notice: { kind: 'good', text: `The field and ${deleted} values were deleted.` } };
    },
    onError: bounced,
  }),
];

import { z } from 'zod';
import { TeamParams } from '../../../identity/teams/schema.js';
import { getTeam } from '../../../identity/teams/get-team.js';
import { authorize } from '../../../platform/access/access.js';
import { findSeat } from '../../../platform/access/seats.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { FIELD_TYPE_RULES } from '../../../work/custom-fields/field-types.js';
import { listFields } from '../../../work/custom-fields/list-fields.js';
import {
  CreateCustomField,
  CustomFieldParams,
  type CustomFieldRecord,
  CustomFieldRecord as Stored,
} from '../../../work/custom-fields/schema.js';
import { shiftField } from '../../../work/custom-fields/shift-field.js';
import { type ShownField, updateField } from '../../../work/custom-fields/update-field.js';
import { type FormError, page, type Page, type PageRequest, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { bounced, fieldsPath, readChoices } from './fields.js';

const Params = TeamParams.extend(CustomFieldParams.shape);

/** Colors that the form of a choice offers; the API takes any. */
const COLORS: readonly [hex: string, name: string][] = [
  ['#b3261e', 'Red'],
  ['#c2570c', 'Orange'],
  ['#8a5300', 'Amber'],
  ['#1b6e3c', 'Green'],
  ['#1f5fbf', 'Blue'],
  ['#6b3fa0', 'Purple'],
  ['#675f54', 'Gray'],
];

/** Bytes of a form: a hundred choices as they were and as they are, as forms encode them. */
const FORM_BYTES = 512 * 1024;

type Option = CustomFieldRecord['options'][number];
const { name, options: Options } = CreateCustomField.shape;

/** The choices that the page showed, by their place: an emptied one goes. Further ones stand one a line. */
function readOptions(shown: readonly Option[], given: Fields): Partial<Option>[] {
  const textOf = (field: string): string => (typeof given[field] === 'string' ? (given[field] as string).trim() : '');
  const kept = shown.flatMap(({ value }, at) => {
    const label = textOf(`o${at}.label`);
    return label === '' ? [] : [{ value, label, color: textOf(`o${at}.color`) || null }];
  });
  return [...kept, ...readChoices(textOf('more'))];
}

const Shown = Stored.pick({ name: true, required: true, options: true });
/** The field as the page showed it, so that nobody replaces what another manager has changed meanwhile. */
const ShownText = z
  .string()
  .max(60_000)
  .transform((text, ctx): ShownField => {
    try {
      return Shown.parse(JSON.parse(text));
    } catch {
      ctx.addIssue({ code: 'custom', message: 'is not what the page sent' });
      return z.NEVER;
    }
  });
const FieldForm = z
  .looseObject({
    shown: ShownText,
    name,
    required: z
      .unknown()
      .optional()
      .transform((given) => given !== undefined),
  })
  .transform(({ shown, name, required, ...given }, ctx) => {
    const read = Options.unwrap()
      .unwrap()
      .safeParse(readOptions(shown.options, given as Fields));
    if (read.success) return { shown, name, required, options: read.data };
    ctx.addIssue({ code: 'custom', path: ['options'], message: read.error.issues[0]?.message ?? 'are not valid' });
    return z.NEVER;
  });

/** @throws PERMISSION_DENIED below manager | RESOURCE_NOT_FOUND not a field of the team */
async function findField(ctx: Context, teamId: string, fieldId: string): Promise<CustomFieldRecord> {
  authorize('custom_field.manage', await findSeat(ctx, teamId));
  const found = (await listFields(ctx, { team_id: teamId })).find(({ field_id }) => field_id === fieldId);
  if (!found) throw notFound('Custom field');
  return found;
}

async function showField(
  { ctx, params }: { ctx: PageRequest['ctx']; params: z.output<typeof Params> },
  { problem, given = {} }: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const [team, field] = await Promise.all([getTeam(ctx, params.team_id), findField(ctx, params.team_id, params.field_id)]);
  const { hasOptions, label } = FIELD_TYPE_RULES[field.field_type];
  const shown: ShownField = { name: field.name, required: field.required, options: field.options };
  const data = { team, field, hasOptions, typeLabel: label, colors: COLORS, shown: JSON.stringify(shown), problem, given };
  return { view: 'teams/field', title: field.name, data };
}

export const fieldPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/fields/:field_id',
    access: 'custom_field.manage',
    params: Params,
    handle: (visit) => showField(visit),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/fields/:field_id',
    access: 'custom_field.manage',
    params: Params,
    form: FieldForm,
    formBytes: FORM_BYTES,
    async handle({ ctx, params: { team_id, field_id }, form: { shown, ...change } }) {
      await findField(ctx, team_id, field_id);
      const saved = await updateField(ctx, field_id, change, shown);
      return { to: fieldsPath(team_id), notice: { kind: 'good', text: `${saved.name} was changed.` } };
    },
    onError: (visit, problem) => showField(visit, { problem, given: visit.form }),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/fields/:field_id/move',
    access: 'custom_field.manage',
    params: Params,
    form: z.object({ to: z.enum(['up', 'down']) }),
    async handle({ ctx, params: { team_id, field_id }, form: { to } }) {
      await shiftField(ctx, field_id, to === 'up' ? -1 : 1);
      return { to: fieldsPath(team_id) };
    },
    onError: bounced,
  }),
];

import { z } from 'zod';
import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { createField } from './create-field.js';
import { deleteField } from './delete-field.js';
import { listFields } from './list-fields.js';
import {
  CreateCustomField,
  CustomFieldParams,
  CustomFieldRecord,
  CustomFieldValue,
  CustomFieldValues,
  DeletedCustomField,
  ListCustomFields,
  ListCustomFieldValues,
  SetCustomFieldValues,
  UpdateCustomField,
} from './schema.js';
import { updateField } from './update-field.js';
import { listValues } from './values/list-values.js';
import { setValues } from './values/set-values.js';

const tag = 'Custom fields';
const FIELD_ID = '019a9f00-0000-7000-8000-000000000081';
const TASK_ID = '019a9f00-0000-7000-8000-000000000082';

const values: Endpoint[] = [
  endpoint({
    id: 'listCustomFieldValues',
    method: 'get',
    path: '/api/custom-fields/values',
    tag,
    summary: 'List values of an item',
    description:
      'The values of a task or project, those of archived fields too. A list of tasks has them with `include=custom_fields`.',
    ability: 'custom_field.read',
    scope: 'tasks:read',
    query: ListCustomFieldValues,
    response: z.array(CustomFieldValue),
    errors: [404],
    handle: ({ ctx, query }) => listValues(ctx, query),
  }),
  endpoint({
    id: 'setCustomFieldValues',
    method: 'put',
    path: '/api/custom-fields/values',
    tag,
    summary: 'Set values',
    description:
      'One value, or an array of up to 100: then all are set or none, and the response is an array. null clears a value. The version of the item stays. 400 for an item of another team than the field’s, and for a user who is no member; 409 for an archived field; 422 for a value of the wrong type.',
    ability: 'custom_field.set',
    scope: 'tasks:write',
    body: SetCustomFieldValues,
    response: CustomFieldValues,
    errors: [404, 409],
    example: [{ field_id: FIELD_ID, entity_type: 'task', entity_id: TASK_ID, value: 'high' }],
    async handle({ ctx, body }) {
      if (Array.isArray(body)) return setValues(ctx, body);
      const [value] = await setValues(ctx, [body], false);
      return value;
    },
  }),
];

export const customFieldRoutes: Endpoint[] = [
  endpoint({
    id: 'listCustomFields',
    method: 'get',
    path: '/api/custom-fields',
    tag,
    summary: 'List custom fields',
    description: 'The fields of a team by position, archived ones too. A team has at most 100.',
    ability: 'custom_field.list',
    scope: 'tasks:read',
    query: ListCustomFields,
    response: z.array(CustomFieldRecord),
    handle: ({ ctx, query }) => listFields(ctx, query),
  }),
  endpoint({
    id: 'createCustomField',
    method: 'post',
    path: '/api/custom-fields',
    tag,
    summary: 'Create a custom field',
    description:
      'Team, key, type and entity can never change. `required` refuses to clear a value; it never keeps an item from being created without one.',
    ability: 'custom_field.manage',
    scope: 'projects:write',
    body: CreateCustomField,
    response: CustomFieldRecord,
    status: 201,
    errors: [404, 409],
    example: {
      team_id: '019a9f00-0000-7000-8000-000000000003',
      name: 'Severity',
      field_type: 'select',
      entity_type: 'task',
      options: [{ value: 'high', label: 'High', color: '#cc3333' }, { value: 'low' }],
    },
    handle: ({ ctx, body }) => createField(ctx, body),
  }),
  ...values,
  endpoint({
    id: 'updateCustomField',
    method: 'patch',
    path: '/api/custom-fields/:field_id',
    tag,
    summary: 'Update a custom field',
    description: 'Every property is optional. Stored values stay, also those of a choice that `options` no longer has.',
    ability: 'custom_field.manage',
    scope: 'projects:write',
    params: CustomFieldParams,
    body: UpdateCustomField,
    response: CustomFieldRecord,
    errors: [404],
    example: { is_archived: true },
    handle: ({ ctx, params, body }) => updateField(ctx, params.field_id, body),
  }),
  endpoint({
    id: 'deleteCustomField',
    method: 'delete',
    path: '/api/custom-fields/:field_id',
    tag,
    summary: 'Delete a custom field',
    description: 'Deletes all its values permanently, those of items in the trash too. Archive it to keep them.',
    ability: 'custom_field.manage',
    scope: 'projects:write',
    params: CustomFieldParams,
    response: DeletedCustomField,
    errors: [404],
    async handle({ ctx, params }) {
      const deleted_values = await deleteField(ctx, params.field_id);
      return { success: true, field_id: params.field_id, deleted_values };
    },
  }),
];

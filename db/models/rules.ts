/** Values that columns and the code of every folder share. This file imports nothing, so that workflows and rules.ts may read it. */

/** Roles of a team, lowest first. A new role is also a migration of the SQL checks, and its abilities in `api/platform/access/access.ts`. */
export const ROLES = ['guest', 'member', 'manager', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Types of custom fields; `api/work/custom-fields/field-types.ts` says what each of them is. */
export const FIELD_TYPES = ['text', 'number', 'date', 'boolean', 'select', 'multi_select', 'user', 'url'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

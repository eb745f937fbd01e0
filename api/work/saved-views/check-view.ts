import { normaliseDate } from '../../platform/dates.js';
import { invalidFields } from '../../platform/errors.js';
import { KEY } from '../custom-fields/rules.js';
import { parseCustomKey } from '../custom-fields/rules.js';
import { filtersOf, GROUP_FIELDS, hasCustomFields, STATUSES_OF, type ViewEntity } from './rules.js';
import { SORT_FIELDS } from './sort-fields.js';
import type { ViewFilters } from './schema.js';

const misfit = (field: string, message: string) => invalidFields([{ field: `body.${field}`, message, type: 'custom' }]);

/** What of a view depends on its entity. */
export interface ViewDefinition {
  entity_type: ViewEntity;
  filters: ViewFilters;
  sort: readonly { field: string }[];
  group_by: string | null;
}

/** @throws VALIDATION_ERROR a name that is neither a field of the list nor a custom field */
function checkName(entity: ViewEntity, name: string, allowed: readonly string[], field: string): void {
  const key = parseCustomKey(name);
  if (key === undefined ? allowed.includes(name) : hasCustomFields(entity) && KEY.test(key)) return;
  const custom = hasCustomFields(entity) ? ', or custom_field:<key>' : '';
  throw misfit(field, `${field.replace(/\.(\d+)/, '[$1]')} must be one of ${allowed.join(', ')}${custom}`);
}

function checkFilters(entity: ViewEntity, filters: ViewFilters): void {
  const foreign = Object.entries(filters).find(([name, value]) => value !== undefined && !filtersOf(entity).includes(name));
  if (foreign) throw misfit(`filters.${foreign[0]}`, `${foreign[0]} is no filter of a view of the entity ${entity}`);
  for (const name of ['status', 'not_status'] as const) {
    const isUnknown = filters[name]?.some((status) => !STATUSES_OF[entity].includes(status));
    if (isUnknown) throw misfit(`filters.${name}`, `${name} must be some of ${STATUSES_OF[entity].join(', ')}`);
  }
  for (const name of ['due_before', 'due_after'] as const) {
    const date = filters[name];
    if (date !== undefined && normaliseDate(date) === null)
      throw misfit(`filters.${name}`, `${name} must be an ISO 8601 date or date-time`);
  }
}

/**
 * Checks what depends on the entity of a view: its filters, and the fields that it sorts and groups by. A custom field need not exist: its
 * key may come and go in the teams of a viewer.
 * @throws VALIDATION_ERROR
 */
export function checkView({ entity_type, filters, sort, group_by }: ViewDefinition): void {
  checkFilters(entity_type, filters);
  for (const [at, { field }] of sort.entries()) checkName(entity_type, field, SORT_FIELDS[entity_type], `sort.${at}.field`);
  if (group_by !== null) checkName(entity_type, group_by, GROUP_FIELDS[entity_type], 'group_by');
}

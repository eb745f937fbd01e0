import type { SavedView } from '../../../../db/models/saved-view.js';
import { rolesFor } from '../../../platform/access/access.js';
import { type Context, requireUser } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { type FieldFilter, resolveFields, resolveFilters } from '../../custom-fields/filter.js';
import { searchIds } from '../../search/search-ids.js';
import { checkView } from '../check-view.js';
import { parseCustomKey } from '../../custom-fields/rules.js';
import { hasCustomFields, MAX_RESULTS } from '../rules.js';
import { VIEWER, ViewFilters } from '../schema.js';
import { resolveDays } from './resolve-days.js';
import type { OrderField, ResolvedView } from './query.sql.js';

/** What is looked up: a saved view, or filters that are not saved. */
export type ViewSource = Pick<SavedView, 'entity_type' | 'team_id' | 'filters' | 'sort' | 'group_by'>;

/** Checks stored filters as if they came with this request: a later version may have dropped one. */
function storedFilters(view: ViewSource): ViewFilters {
  try {
    const filters = ViewFilters.parse(view.filters);
    checkView({ entity_type: view.entity_type, filters, sort: view.sort, group_by: view.group_by });
    return filters;
  } catch (cause) {
    throw conflict('The view holds a filter that no longer exists; its owner has to save it again', { cause });
  }
}

/** Returns the filters by custom fields, and those that leave out what they find. */
async function resolveFieldFilters(ctx: Context, { entity_type }: ViewSource, filters: ViewFilters): Promise<FieldFilter[][]> {
  if (!hasCustomFields(entity_type)) return [[], []];
  const [wanted, unwanted] = [filters.custom_fields, filters.not_custom_fields].map((given = {}) =>
    Object.entries(given).flatMap(([key, values]) => (values.length > 0 ? [[key, values.map(String)] as const] : [])),
  ) as [(readonly [string, string[]])[], (readonly [string, string[]])[]];
  const resolved = await resolveFilters(ctx, entity_type, [...wanted, ...unwanted]);
  return [resolved.slice(0, wanted.length), resolved.slice(wanted.length)];
}

async function orderFields(ctx: Context, { entity_type }: ViewSource, names: readonly string[]): Promise<OrderField[]> {
  const keys = names.flatMap((name) => parseCustomKey(name) ?? []);
  const fields = hasCustomFields(entity_type) && keys.length > 0 ? await resolveFields(ctx, entity_type, keys) : [];
  return names.map((name) => {
    const key = parseCustomKey(name);
    if (key === undefined) return { name };
    const own = fields.filter((field) => field.key === key);
    return { fieldIds: own.map(({ field_id }) => field_id), columns: [...new Set(own.map(({ column }) => column))] };
  });
}

/** A view as the caller sees it, and whether the search index is behind or cut what the words match. */
export interface Resolution {
  view: ResolvedView;
  indexing: boolean;
  capped: boolean;
}

/**
 * Looks up what a stored view names, with the rights of the caller: teams, custom fields by their keys, and what its words match
 * (docs/decisions/work.md#saved-views).
 * @throws RESOURCE_CONFLICT a stored filter no longer exists | INTERNAL_ERROR 503 after one second of searching
 */
export async function resolveView(ctx: Context, stored: ViewSource): Promise<Resolution> {
  const wanted = storedFilters(stored);
  const { q, custom_fields: _fields, not_custom_fields: _not, due, due_before, due_after, ...others } = wanted;
  const search = q === undefined || q.trim() === '' ? undefined : await searchIds(ctx, q, MAX_RESULTS);
  const [group = null, ...sorted] = await orderFields(ctx, stored, [
    ...(stored.group_by === null ? [] : [stored.group_by]),
    ...stored.sort.map(({ field }) => field),
  ]).then((fields) => (stored.group_by === null ? [null, ...fields] : fields));
  const people = (ids: string[] | undefined) => ids?.map((id) => (id === VIEWER ? requireUser(ctx) : id));
  const persons = {
    assigned_to: people(others.assigned_to),
    not_assigned_to: people(others.not_assigned_to),
    created_by: people(others.created_by),
    not_created_by: people(others.not_created_by),
  };
  const [fieldFilters = [], notFieldFilters = []] = await resolveFieldFilters(ctx, stored, wanted);
  return {
    view: {
      entity: stored.entity_type,
      userId: requireUser(ctx),
      roles: rolesFor('saved_view.team'),
      teamId: stored.team_id,
      filters: { ...others, ...persons, ...(await resolveDays(ctx, { due, due_before, due_after })) },
      fieldFilters,
      notFieldFilters,
      found: search?.ids ?? null,
      sort: sorted.map((field, at) => ({ field: field as OrderField, direction: stored.sort[at]?.direction ?? 'asc' })),
      group,
    },
    indexing: search?.indexing ?? false,
    capped: search?.capped ?? false,
  };
}

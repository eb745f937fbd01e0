import { z } from 'zod';
import { invalidFields } from '../errors.js';
import { ClampedInt, Id } from '../fields.js';
import type { Endpoint, EndpointSpec } from './endpoint.js';

/** How the parameters of a query page a list. */
export interface Paging {
  /** Field of a row that the cursor `before` takes; a list without one pages by `offset`. */
  by?: string;
  /** Older names of `offset`, which a link drops. */
  aliases?: readonly string[];
}

const pagings = new WeakMap<z.ZodType, Paging>();

/** Declares `limit` as the parameter of a list that goes on. */
export function pagedBy<Limit extends z.ZodType>(limit: Limit, paging: Paging): Limit {
  // A copy: two lists may share the schema.
  const own = limit.meta({ ...limit.meta() });
  pagings.set(own, paging);
  return own;
}

const LIMIT: z.ZodType<number> = ClampedInt(1, 500, 100);

/** Declares the parameters of a list that pages by `limit` and `offset`. */
export const byOffset = (limit = LIMIT, maxOffset = 2_147_483_647) => ({
  limit: pagedBy(limit, {}),
  offset: ClampedInt(0, maxOffset, 0),
});

/** Declares the cursor of a list: the field `by` of the last row of the page before. */
export const cursorSchema = (by: string, id: z.ZodType<string> = Id) =>
  id.optional().meta({ description: `Cursor: \`${by}\` of the last row of the page before` });

/** Declares the parameters of a list that pages by `limit` and `before`. */
export const byCursor = <Limit extends z.ZodType<number | undefined> = typeof LIMIT>(by: string, limit?: Limit) => ({
  limit: pagedBy((limit ?? LIMIT) as Limit, { by }),
  before: cursorSchema(by),
});

/** Everything that makes a list go on: its parameters, and what its route adds. */
export type Pages = Paging & NonNullable<EndpointSpec<z.ZodType, z.ZodType, z.ZodType>['pages']>;

/** Returns how the list of a route pages; undefined for any other route. */
export function getPages(endpoint: Endpoint): Pages | undefined {
  if (endpoint.raw) return undefined;
  const { limit } = (endpoint.query as z.ZodObject | undefined)?.shape ?? {};
  const paging = limit && pagings.get(limit as z.ZodType);
  return paging && { ...paging, ...endpoint.pages };
}

/** Returns whether a route lists rows, in an array or in fields of an object. */
export const isList = ({ method, summary }: Endpoint): boolean => method === 'get' && summary.startsWith('List ');

/** Returns the fields that hold the rows of a list whose answer is an object; none for an array, and for a route that lists nothing. */
export function rowsFields(endpoint: Endpoint): string[] {
  if (!isList(endpoint) || !(endpoint.response instanceof z.ZodObject)) return [];
  return Object.entries(endpoint.response.shape).flatMap(([name, field]) => (field instanceof z.ZodArray ? [name] : []));
}

/** Returns the error for a cursor whose row is gone or was never visible: where the list goes on is then unknown. */
export const unknownCursor = () =>
  invalidFields([
    { field: 'query.before', message: 'is no row of this list any more: begin again without before', type: 'custom' },
  ]);

import { z } from 'zod';
import { searchItems } from '../../../work/search/search-items.js';
import { ITEM_TYPES } from '../../../work/graph/item-place.js';
import { page, type Page } from '../../page.js';

/** Results of one page; more exact words find the others. */
const SHOWN = 50;
const MAX_QUERY = 500;

/** A query that the API would reject counts as empty, except that it is cut to the permitted length. */
const Query = z.object({
  q: z
    .string()
    .transform((text) =>
      text.includes('\0') || !text.isWellFormed() ? '' : Array.from(text.trim()).slice(0, MAX_QUERY).join(''),
    )
    .catch(''),
});

export const searchPages: Page[] = [
  page({
    method: 'get',
    path: '/app/search',
    access: 'search.use',
    query: Query,
    async handle({ ctx, query: { q } }) {
      const found = q === '' ? undefined : await searchItems(ctx, { query: q, limit: SHOWN });
      const groups = ITEM_TYPES.map((type) => ({
        type,
        results: found?.results.filter(({ item_type }) => item_type === type) ?? [],
      })).filter(({ results }) => results.length > 0);
      const title = q === '' ? 'Search' : `${q} · Search`;
      return { view: 'items/search', title, data: { q, found, groups } };
    },
  }),
];

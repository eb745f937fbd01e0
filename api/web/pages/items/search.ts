import { z } from 'zod';
import { searchItems } from '../../../work/search/search-items.js';
import { ITEM_TYPES } from '../../../work/graph/item-place.js';
import { findDestinations } from '../../navigation/find-destinations.js';
import { page, type Page, requireUser } from '../../page.js';

/** Results of one page; more exact words find the others. */
const SHOWN = 50;
/** Items that the palette shows. */
const SHOWN_IN_PALETTE = 8;
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
    async handle({ ctx, me, query: { q } }) {
      const found = q === '' ? undefined : await searchItems(ctx, { query: q, limit: SHOWN });
      const groups = ITEM_TYPES.map((type) => ({
        type,
        results: found?.results.filter(({ item_type }) => item_type === type) ?? [],
      })).filter(({ results }) => results.length > 0);
      const title = q === '' ? 'Search' : `${q} · Search`;
      const { pages, actions } = findDestinations(requireUser({ me }), q);
      return { view: 'items/search', title, data: { q, found, groups, destinations: q === '' ? [] : [...pages, ...actions] } };
    },
  }),
  page({
    method: 'get',
    path: '/app/palette',
    access: 'search.use',
    query: Query,
    async handle({ ctx, me, query: { q } }) {
      const found = q === '' ? undefined : await searchItems(ctx, { query: q, limit: SHOWN_IN_PALETTE });
      const { pages, actions } = findDestinations(requireUser({ me }), q);
      return { view: 'items/palette', title: 'Palette', isFragment: true, data: { pages, actions, items: found?.results ?? [] } };
    },
  }),
];

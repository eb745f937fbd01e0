import { z } from 'zod';
import { StrictInt, Text, Timestamp } from '../../platform/fields.js';
import { ITEM_TYPES } from '../graph/item-place.js';

const MAX_QUERY = 500;
const MAX_RESULTS = 50;
const DEFAULT_RESULTS = 20;

/** A query as people type it. */
export const SearchQuery = Text.min(1).max(MAX_QUERY).meta({
  description:
    'Words must all match. `"a phrase"`, `-word` to exclude, `or` between alternatives. The last word may be unfinished. `HAR-12` finds the task of that name first. Common English words such as `the` do not count, and other characters have no meaning.',
});

export const SearchItems = z
  .object({ query: SearchQuery, limit: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS) })
  .meta({ id: 'SearchItems' });

export const SearchResult = z
  .object({
    item_type: z.enum(ITEM_TYPES),
    item_id: z.string(),
    title: z.string(),
    snippet: z.string().meta({ description: 'HTML: escaped text around the match, matches in `<mark>`' }),
    project_id: z.string().nullable(),
    project_name: z.string().nullable(),
    team_id: z.string(),
    team_name: z.string(),
    status: z.string(),
    score: z.number().meta({ description: 'Compares results of one response only' }),
    updated_at: Timestamp,
  })
  .meta({ id: 'SearchResult' });
export type SearchResult = z.output<typeof SearchResult>;

export const SearchResults = z
  .object({
    query: z.string().meta({ description: 'The query as sent' }),
    results: z.array(SearchResult).meta({ description: 'Best first' }),
    total: z.int().meta({ description: 'Number of matching items that the caller may read, exact up to 1,000' }),
    total_capped: z.literal(true).optional().meta({ description: 'Present if there are more than 1,000' }),
    showing: z.int().meta({ description: 'Number of results' }),
    indexing: z.literal(true).optional().meta({
      description: 'Present while a bulk change of the caller’s teams is being indexed; repeat the search in a few seconds',
    }),
  })
  .meta({ id: 'SearchResults' });
export type SearchResults = z.output<typeof SearchResults>;

/** A result in the AI workspace. */
export const SearchHit = z
  .object({
    item_type: z.enum(ITEM_TYPES),
    item_id: z.string(),
    title: z.string(),
    project_name: z.string().nullable(),
    team_name: z.string().nullable(),
    status: z.string().nullable(),
  })
  .meta({ id: 'SearchHit' });
export type SearchHit = z.output<typeof SearchHit>;

export const SearchWorkspace = z.object({ q: SearchQuery, limit: StrictInt(1, MAX_RESULTS, DEFAULT_RESULTS) });

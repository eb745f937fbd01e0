import { z } from 'zod';
import { type Endpoint, endpoint, Reply } from '../../platform/endpoint/endpoint.js';
import { SearchHit, SearchItems, type SearchResult, SearchResults, SearchWorkspace } from './schema.js';
import { searchItems } from './search-items.js';

const tag = 'Search';

const presentHit = ({ item_type, item_id, title, project_name, team_name, status }: SearchResult): SearchHit => ({
  item_type,
  item_id,
  title,
  project_name,
  team_name,
  status,
});

export const searchRoutes: Endpoint[] = [
  endpoint({
    id: 'searchItems',
    method: 'post',
    path: '/api/search',
    tag,
    summary: 'Search work items',
    description:
      'Finds titles, tags, texts and comments of live items in the caller’s teams, and similar words if there are few hits. Finds what earlier requests stored; after a bulk change `indexing` is true for some seconds.',
    ability: 'search.use',
    scope: 'graph:read',
    body: SearchItems,
    response: SearchResults,
    // A repeated search is a new one: its results depend on what the caller may read now.
    storable: false,
    example: { query: 'pressure "relief valve" -archived', limit: 20 },
    handle: ({ ctx, body }) => searchItems(ctx, body),
  }),
  endpoint({
    id: 'searchWorkspace',
    method: 'get',
    path: '/api/ai-workspace/search',
    tag,
    summary: 'Search items to link to a session',
    description: 'The same search as `POST /api/search`. `X-Search-Indexing: true` marks a bulk change that is being indexed.',
    ability: 'search.use',
    scope: 'graph:read',
    limit: 'ai_search',
    searches: true,
    query: SearchWorkspace,
    response: z.array(SearchHit),
    async handle({ ctx, query: { q, limit } }) {
      const { results, indexing } = await searchItems(ctx, { query: q, limit });
      return new Reply(results.map(presentHit), indexing ? { headers: { 'X-Search-Indexing': 'true' } } : {});
    },
  }),
];

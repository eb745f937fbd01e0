import { requestBytes, type Source } from '../load.js';
import type { Result, Section } from '../report.js';
import { compare } from '../rounds.js';
import type { World } from '../seed.js';
import { rateGoal, withSides } from './requests-section.js';

const ITEMS = 20_000;
const buildHeaders = ({ token }: World) => ({ Authorization: `Bearer ${token}`, 'User-Agent': 'bench' });

/** Notes and docs of the benchmark's team, a fifth of the items beside its 100,000 tasks. Created before the tasks, so that lists mix them. */
const plantItems = /* sql */ `
  with given as (select uuidv7()::text as id, (array['note', 'doc'])[1 + n % 2] as type, n from generate_series(1, :count::int) n),
  keys as (insert into item_keys (item_id, item_type) select id, type from given)
  insert into items (item_id, item_type, team_id, project_id, title, content, kind, created_by, created_at)
  select id, type, :team, :project, 'Minutes ' || n, repeat('What was said about valve 7. ', 100), case type when 'note' then 'note' end,
    :user, (select min(created_at) from tasks where team_id = :team) + n * interval '1 microsecond' from given`;

const get = (world: World, path: string): Source => {
  const bytes = requestBytes('GET', path, buildHeaders(world));
  return { expect: 200, next: () => bytes };
};

/** The first items of a team of 100,000 tasks and 20,000 notes and docs, without a filter and with three. */
export function workItemsSection(limit: 50 | 1_000): Section {
  return async (servers, world, load) => {
    const { teamId, userId, projects } = world;
    await servers.db.raw(plantItems, { count: ITEMS, team: teamId, user: userId, project: world.listed } as never);
    await servers.db.raw('vacuum (analyze) items, item_keys, tasks');
    // A list of 1,000 is a quarter of a megabyte: one request at a time.
    const connections = limit === 50 ? load.connections : 1;
    const paths = {
      'of a team': `/api/work-items?team_id=${teamId}&limit=${limit}`,
      'of a project, by type and status': `/api/work-items?project_id=${projects[0]}&type=task&status=todo&limit=${limit}`,
    };
    const results: Result[] = [];
    for (const [what, path] of Object.entries(paths)) {
      const comparison = await withSides(servers, (sides) => compare(servers, sides, get(world, path), { ...load, connections }));
      const name = `GET /api/work-items, ${limit.toLocaleString('en')} ${what}, ${connections} connections`;
      results.push({ name, comparison, goals: [rateGoal(comparison, 0.75)], notes: [] });
    }
    await servers.db.raw('delete from items where team_id = ?', [teamId]);
    return results;
  };
}

/** A note of 2 kB, without what follows. */
export const createNoteSection: Section = async (servers, world, load) => {
  const headers = { ...buildHeaders(world), 'Content-Type': 'application/json' };
  const note = { title: 'What we decided on Monday', content: 'We ship on **Friday**. '.repeat(90), project_id: world.listed };
  const bytes = requestBytes('POST', '/api/notes', headers, Buffer.from(JSON.stringify(note)));
  const source: Source = { expect: 201, next: () => bytes };
  const comparison = await withSides(servers, (sides) => compare(servers, sides, source, load));
  const name = `POST /api/notes, ${load.connections} connections, without what follows`;
  return [{ name, comparison, goals: [rateGoal(comparison, 0.6)], notes: [] }];
};

/**
 * What PostgreSQL does for items, on an installation that is not small: index probes only, and without a filter no table but the keys of
 * the page. Each statement is explained as a connection runs it once it has settled on a plan.
 */
import pg from 'pg';
import { explain, nodesOf, type PlanNode } from '../../../support/plans.js';
import { captureStatements } from '../../../support/statements.js';
import { itemWorld, plantItems } from './world.js';

const world = itemWorld();
const LARGE = ['tasks', 'items', 'projects', 'item_keys', 'item_fields', 'memberships', 'teams', 'relations'];

/** 20,000 tasks and 20,000 items of other teams with an edge each, and 3,000 items of the own one. */
async function grow(): Promise<void> {
  await plantItems(world, 3_000);
  // A connection of its own: that of the app gives up after ten seconds.
  const client = new pg.Client(world.app.database.url);
  await client.connect();
  await client.query(
    /* sql */ `
    with people as (
      insert into users (email, name, username, display_name, avatar)
      select uuidv7() || '@test.example', 'c', uuidv7(), 'c', 'a' from generate_series(1, 400) i returning user_id
    ), teams as (
      insert into teams (name, created_by) select 'crowd', user_id from people returning team_id, created_by
    ), seats as (
      insert into memberships (team_id, user_id, role) select team_id, user_id, 'member' from teams, lateral (
        select user_id from people where abs(hashtext(user_id::text || team_id::text)) % 40 = 0
      ) p
    ), projects as (
      insert into projects (team_id, name, created_by) select team_id, 'p', created_by from teams, generate_series(1, 5)
      returning project_id, team_id, created_by
    ), project_keys as (
      insert into item_keys select project_id::text, 'project' from projects
    ), given as (
      select project_id, team_id, created_by, uuidv7()::text as task, uuidv7()::text as item from projects, generate_series(1, 10)
    ), keys as (
      insert into item_keys select task, 'task' from given union all select item, 'doc' from given
    ), items as (
      insert into items (item_id, item_type, team_id, project_id, title, content, created_by)
      select item, 'doc', team_id, project_id, 't', repeat('words ', 200), created_by from given
    ), edges as (
      insert into relations (relation_type, source_id, target_id, kind, from_id, to_id, from_team_id, to_team_id, team_id, created_by)
      select 'attached_to', task, item, 'attached', task, item, team_id, team_id, team_id, created_by from given
    ), fields as (
      insert into item_fields (item_id, fields) select task, '{"a":1}' from given where abs(hashtext(task)) % 4 = 0
    )
    insert into tasks (task_id, project_id, team_id, title, created_by, assigned_to)
    select task, project_id, team_id, 't', created_by, created_by from given`,
  );
  await client.query('vacuum (analyze)');
  await client.end();
}

/** Steps that read a whole table that is large. */
const scansIn = (nodes: PlanNode[]): string[] =>
  nodes.flatMap((node) => {
    const table = node['Relation Name'] ?? '';
    return node['Node Type'] === 'Seq Scan' && LARGE.includes(table) ? [table] : [];
  });

/** Rows that a plan reads from tables and indexes. */
const rowsRead = (nodes: PlanNode[]): number =>
  nodes
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce(
      (sum, node) => sum + (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1) + (node['Rows Removed by Filter'] ?? 0),
      0,
    );

it('reading, listing and writing items probes indexes only, as many as the answer needs', async () => {
  await grow();
  const { member, project, team } = world;
  const { item_id } = await world.make('doc', { content: 'Words' });
  const { note_id } = (await member.post('/api/notes', { title: 'x', ...project })).body;
  const task = await world.make('task', { x: 1 });
  await member.post('/api/work-items/relations', { source_id: task.item_id, target_id: item_id, relation_type: 'related_to' });
  const list = (query: string) => () => member.get(`/api/work-items?limit=50${query}`);
  const requests: Record<string, () => Promise<unknown>> = {
    'one item': () => member.get(`/api/work-items/${task.item_id}`),
    'one note': () => member.get(`/api/notes/${note_id}`),
    'all items': list(''),
    'items of a team': list(`&team_id=${team.team_id}`),
    'items of a project': list(`&project_id=${project.project_id}`),
    'items by type': list('&type=doc'),
    'items by status': list('&status=active'),
    'changed items': list('&updated_since=2020-01-01T00:00:00Z'),
    'related items': list(`&related_to=${task.item_id}`),
    'all items of a stream': () => member.get('/api/work-items'),
    notes: () => member.get('/api/notes?limit=50'),
    'notes of a project': () => member.get(`/api/notes?limit=50&project_id=${project.project_id}`),
    'create a note': () => member.post('/api/notes', { title: 'x', ...project }),
    'create in the default team': () => member.post('/api/notes', { title: 'x' }),
    'change a note': () => member.patch(`/api/notes/${note_id}`, { title: 'y' }),
    'replace a task item': () => member.put(`/api/work-items/${task.item_id}`, { title: 'y', x: 2 }),
    'delete a note': () => member.delete(`/api/notes/${note_id}`),
    'restore a note': () => member.post(`/api/trash/note/${note_id}/restore`),
  };
  const scans: string[] = [];
  const costly: string[] = [];
  for (const [what, request] of Object.entries(requests)) {
    for (const statement of await captureStatements(request)) {
      // An insertion with an id of its own runs once.
      if (statement.name === 'create_item' || /^(touch|authenticate)/.test(statement.name)) continue;
      const nodes = nodesOf(await explain(world.app.database.url, statement));
      scans.push(...scansIn(nodes).map((table) => `${what}: ${statement.name} reads ${table}`));
      const limit = /^(all items of a stream)$/.test(what) ? 15_000 : 700;
      const read = rowsRead(nodes);
      if (read > limit) costly.push(`${what}: ${statement.name} reads ${read} rows`);
    }
  }
  expect([...scans, ...costly]).toEqual([]);
}, 180_000);

it('a list of keys reads its indexes only, not the rows', async () => {
  await grow();
  const sent = await captureStatements(() => world.member.get('/api/work-items'));
  const keys = sent.find(({ name }) => name === 'work_item_keys_all_teams');
  expect(keys).toBeDefined();
  const nodes = nodesOf(await explain(world.app.database.url, keys as NonNullable<typeof keys>));
  const tasks = nodes.filter((node) => node['Relation Name'] === 'tasks');
  expect(tasks.map((node) => [node['Node Type'], node['Index Name']])).toEqual([['Index Only Scan', 'tasks_by_time_of_team']]);
}, 120_000);

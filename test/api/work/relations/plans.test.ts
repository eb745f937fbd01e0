/**
 * What PostgreSQL does for edges, on a graph that is not small: index probes only, as many as the graph needs. Each statement is
 * explained as a connection runs it once it has settled on a plan.
 */
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { explain, nodesOf } from '../../../support/plans.js';
import { captureStatements } from '../../../support/statements.js';

const OTHERS = 20_000;
const CHAIN = 200;
const LARGE = ['tasks', 'relations', 'item_keys'];

let app: TestApp;
let team: TestTeam;
let first: string;
let last: string;

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  const project = await buildProject(app, team);
  const { team_id } = team;
  const { user_id } = team.member;
  // A chain of tasks below many that have nothing to do with it.
  const { rows } = await app.services.db.raw<{ rows: { task_id: string }[] }>(
    /* sql */ `
    with given as materialized (select uuidv7()::text as id, n from generate_series(1, ?::int) n),
    keys as (insert into item_keys select id, 'task' from given),
    made as (
      insert into tasks (task_id, project_id, team_id, title, created_by)
      select id, ?, ?, 't', ? from given
    ), edges as (
      insert into relations (relation_type, source_id, target_id, kind, from_id, to_id, from_team_id, to_team_id, team_id, created_by)
      select 'blocks', a.id, b.id, 'blocks', a.id, b.id, ?, ?, ?, ? from given a join given b on b.n = a.n + 1 and a.n % ? <> 0
    )
    select id as task_id from given where n in (1, ?) order by n`,
    [OTHERS, project.project_id, team_id, user_id, team_id, team_id, team_id, user_id, CHAIN, CHAIN],
  );
  [first, last] = rows.map(({ task_id }) => task_id) as [string, string];
  await app.services.db.raw('vacuum (analyze)');
  await buildTask(app, team, project);
});
afterAll(() => app.close());

it('creating, listing and deleting an edge probes indexes only', async () => {
  const as = app.as(team.member);
  const relate = (source_id: string, target_id: string) =>
    as.post('/api/work-items/relations', { source_id, target_id, relation_type: 'blocks' });
  const statements = [
    ...(await captureStatements(() => relate(first, last))),
    ...(await captureStatements(() => as.get(`/api/work-items/${first}/relations`))),
  ];
  expect(statements.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['relation_ends', 'lock_item_keys', 'edge_state', 'walk_graph_below', 'store_edge', 'list_relations']),
  );
  const slow: string[] = [];
  // An insertion with an id of its own runs once.
  for (const statement of statements.filter(({ name }) => name !== 'store_edge')) {
    for (const node of nodesOf(await explain(app.database.url, statement))) {
      const table = node['Relation Name'] ?? '';
      if (node['Node Type'] === 'Seq Scan' && LARGE.includes(table)) slow.push(`${statement.name}: ${table}`);
    }
  }
  expect(slow).toEqual([]);
});

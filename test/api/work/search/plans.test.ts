/**
 * A search reads what is the caller's: beside 30,000 items of strangers. Judged by the blocks and rows that PostgreSQL reads for the
 * statements that the requests really send.
 */
import { createIndexer } from '../../../../api/work/search/indexer.js';
import { openDatabase } from '../../../../db/connection.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { explain, nodesOf, type PlanNode } from '../../../support/plans.js';
import { type SentStatement, captureStatements } from '../../../support/statements.js';

const STRANGERS = 30_000;

let app: TestApp;
let team: TestTeam;

/** Every item of the strangers holds `everywhere`, which the team knows too, and `abroad`, which it does not; one holds `zirconium`. */
async function plantStrangers(): Promise<void> {
  const stranger = await buildTeam(app);
  const { project_id } = await buildProject(app, stranger);
  const db = openDatabase({ url: app.database.url, poolSize: 1, name: 'assent-test', statementTimeout: 0 });
  await db.raw(
    /* sql */ `
    with given as (select uuidv7()::text as id, i from generate_series(1, :count::int) i),
      keys as (insert into item_keys select id, 'task' from given),
      marks as (insert into search_dirty (team_id, item_id) select :team_id, id from given)
    insert into tasks (task_id, project_id, team_id, title, created_by)
    select id, :project_id, :team_id, 'Everywhere abroad ' || md5(id) || case when i = 7 then ' zirconium' else '' end, :user_id from given`,
    { count: STRANGERS, team_id: stranger.team_id, project_id, user_id: stranger.member.user_id } as never,
  );
  const index = createIndexer(db);
  while ((await index()) > 0);
  await db.raw('vacuum (analyze) search_documents, search_dirty, tasks, search_team_words');
  await db.destroy();
}

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  const project = await buildProject(app, team);
  await plantStrangers();
  for (let i = 0; i < 5; i += 1) await buildTask(app, team, project, { title: `Everywhere ours ${i}` });
  await app.as(team.guest).post('/api/search', { query: 'ours' });
}, 180_000);
afterAll(() => app.close());

const sentFor = (query: string) => captureStatements(() => app.as(team.guest).post('/api/search', { query }));
const findPlan = (statement: SentStatement): Promise<PlanNode> => explain(app.database.url, statement);
const findPlans = async (query: string, name: string): Promise<PlanNode[]> => {
  const sent = await sentFor(query);
  return Promise.all(sent.filter((statement) => statement.name === name).map(findPlan));
};
const blocks = (node: PlanNode): number => (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);

it('a word that all teams have is read in the caller’s team only', async () => {
  const [plan] = await findPlans('everywhere ', 'search_items');
  const nodes = nodesOf(plan as PlanNode);
  expect(nodes.map((node) => node['Index Name'])).toContain('search_words');
  for (const node of nodes.filter((each) => each['Relation Name'] === 'search_documents'))
    expect(node['Node Type']).not.toBe('Seq Scan');
  for (const node of nodes) expect((node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0)).toBeLessThan(100);
  expect(blocks(plan as PlanNode)).toBeLessThan(300);
});

it('a word of strangers only costs what an unknown word costs', async () => {
  const searches: PlanNode[][] = [];
  for (const query of ['abroad ', 'zirconium ', 'zirconiux ', 'qwrtplkjh '])
    searches.push(await findPlans(query, 'search_items'));
  // The second of each looks for similar words.
  expect(searches.map((plans) => plans.length)).toEqual([2, 2, 2, 2]);
  const spent = searches.map((plans) => plans.reduce((sum, plan) => sum + blocks(plan), 0));
  expect(Math.max(...spent) - Math.min(...spent)).toBeLessThan(60);
});

it('typos in many words cost one look at the words of the team each, and no search of another team', async () => {
  const words = Array.from({ length: 16 }, (_, i) => `${'abcdefghijklmnop'.charAt(i)}verywher`);
  const plans = await findPlans(`${words.join(' ')} `, 'search_items');
  expect(plans).toHaveLength(2);
  const spent = plans.map(blocks);
  expect((spent[1] ?? 0) - (spent[0] ?? 0)).toBeLessThan(600);
});

it('the look for marks reads an index, not the marks of strangers', async () => {
  await app.services.db.raw(
    'insert into search_dirty (team_id, item_id) select (select team_id from teams where team_id <> ? limit 1), i::text from generate_series(1, 20000) i',
    [team.team_id],
  );
  await app.services.db.raw('analyze search_dirty');
  const [plan] = await findPlans('ours', 'search_items');
  expect(nodesOf(plan as PlanNode).map((node) => node['Index Name'])).toContain('search_dirty_pkey');
  expect(blocks(plan as PlanNode)).toBeLessThan(400);
});

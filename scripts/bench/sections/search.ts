import type { Knex } from 'knex';
import { createIndexer } from '../../../api/work/search/indexer.js';
import { drive, requestBytes, type Source } from '../load.js';
import type { Goal, Result, Section } from '../report.js';
import { compare, computeFigures, measureRound, type Round } from '../rounds.js';
import { taskSources } from '../requests.js';
import { addProject, seed, type World } from '../seed.js';
import type { Servers } from '../servers.js';
import { quantile } from '../statistics.js';
import { rateGoal, withSides } from './requests-section.js';

const ITEMS = 100_000;
const CONNECTIONS = 8;

/**
 * Gives tasks a title of 6 words and a text of 20, of 20,000 words: `wordN` is the N-th most frequent. Of 100,000 tasks a third holds
 * `word1`, one in a hundred `word300`, a handful `word19000`.
 */
const writeWords = /* sql */ `
  update tasks t set title = words.title, description = words.description
  from (
    select n.task_id, string_agg('word' || floor(exp(random() * ln(20000)))::int, ' ') filter (where i <= 6) as title,
      string_agg('word' || floor(exp(random() * ln(20000)))::int, ' ') filter (where i > 6) as description
    from tasks n, generate_series(1, 26) i where n.project_id = :project group by n.task_id
  ) words where words.task_id = t.task_id`;

/** A word of one task in a hundred. */
const MIDDLING = 'word300 ';
/** A query, with a goal in ms for one of its quantiles. */
interface Query {
  query: string;
  goal?: { of: 'p50' | 'p99'; ms: number };
}
const TWO_WORDS: Query = { query: 'word20 word30 ', goal: { of: 'p99', ms: 60 } };
const QUERIES: Record<string, Query> = {
  'a rare word': { query: 'word19000 ', goal: { of: 'p50', ms: 10 } },
  'one word in a hundred': { query: MIDDLING },
  'a common word': { query: 'word1 ', goal: { of: 'p99', ms: 60 } },
  'two words': TWO_WORDS,
};

/** Marks every task of a project, as a change of each does. */
const markAll = (db: Knex, project: string) =>
  db.raw('insert into search_dirty (team_id, item_id) select team_id, task_id from tasks where project_id = ?', [project]);

/** Indexes all marks, as the worker does over time. */
async function drainAll(db: Knex): Promise<void> {
  const index = createIndexer(db);
  while ((await index()) > 0);
}

let searched: Promise<World> | undefined;

/** A team with 100,000 indexed tasks, created once a run. */
const searchWorld = ({ db }: Servers): Promise<World> =>
  (searched ??= (async () => {
    const world = await seed(db, 0, 'searcher');
    const project = await addProject(db, world, ITEMS);
    await db.raw(writeWords, { project });
    await markAll(db, project);
    await drainAll(db);
    await db.raw('vacuum (analyze) tasks, search_documents, search_dirty, search_team_words');
    world.projects = [project];
    world.tasks = await db('tasks').where({ project_id: project }).limit(5_000).pluck<string[]>('task_id');
    return world;
  })());

const searchSource = ({ token }: World, query: string): Source => {
  const headers = { Authorization: `Bearer ${token}`, 'User-Agent': 'bench', 'Content-Type': 'application/json' };
  const bytes = requestBytes('POST', '/api/search', headers, Buffer.from(JSON.stringify({ query, limit: 20 })));
  return { expect: 200, next: () => bytes };
};

/** Searches over 100,000 tasks of one team, against a bare handler; at the end right after all of them were written and indexed again. */
export const searchSection: Section = async (servers, _world, load) => {
  const world = await searchWorld(servers);
  const results: Result[] = [];
  const search = async (what: string, { query, goal }: Query) => {
    const source = searchSource(world, query);
    const comparison = await withSides(servers, (sides) =>
      compare(servers, sides, source, { ...load, connections: CONNECTIONS }),
    );
    const name = `POST /api/search, ${what} of ${ITEMS.toLocaleString('en')} items, ${CONNECTIONS} connections`;
    const goals: Goal[] = [rateGoal(comparison, 0.75)];
    if (goal) goals.push({ what: goal.of, value: comparison.product[goal.of], goal: goal.ms, better: 'less', unit: ' ms' });
    results.push({ name, comparison, goals, notes: [] });
  };
  for (const [what, query] of Object.entries(QUERIES)) await search(what, query);
  await markAll(servers.db, world.projects[0] as string);
  await drainAll(servers.db);
  await search('two words, right after all were written,', TWO_WORDS);
  return results;
};

/** Searches of a team whose tasks change meanwhile, without a worker: each search indexes what was written since the last one. */
export const searchBesideWritesSection: Section = async (servers, _world, load) => {
  const world = await searchWorld(servers);
  const api = await servers.startApi();
  const seconds = load.seconds * load.rounds;
  const source = searchSource(world, MIDDLING);
  await drive(api.port, CONNECTIONS, 2, source);
  const alone = await drive(api.port, CONNECTIONS, seconds, source);
  const { update } = taskSources(world);
  const [beside, writes] = await Promise.all([
    drive(api.port, CONNECTIONS, seconds, source),
    drive(api.port, 2, seconds, update),
  ]);
  await api.stop();
  const line = (what: string, { latencies, count, errors }: typeof alone) =>
    `${what}: ${(count / seconds).toFixed(0)}/s, p50 ${quantile(latencies, 0.5).toFixed(1)} ms, p99 ${quantile(latencies, 0.99).toFixed(1)} ms, ${errors} errors`;
  const name = `POST /api/search, ${CONNECTIONS} connections, beside updates of the team’s tasks on 2`;
  return [{ name, goals: [], notes: [line('alone', alone), line('beside writes', beside), line('the writes', writes)] }];
};

/** Removes the marks from `record_changes_of`, and returns what puts them back. */
async function withoutMarks(db: Knex): Promise<() => Promise<void>> {
  const sql = "select pg_get_functiondef('record_changes_of(jsonb[], change[])'::regprocedure) as text";
  const { rows } = await db.raw<{ rows: [{ text: string }] }>(sql);
  const whole = rows[0].text;
  const bare = whole.replace(/, marks as \([\s\S]*?\n {2}\)\n/, '\n');
  if (bare === whole) throw new Error('record_changes_of writes no marks');
  // Question marks would be parameters.
  const define = (text: string) => async () => void (await db.raw(text.replaceAll('?', '\\?')));
  await define(bare)();
  return define(whole);
}

/** What marks add to creating and updating a task: the same requests with and without them, by turns. */
export const markCostSection: Section = async (servers, _world, load) => {
  const world = await seed(servers.db, 5_000, 'marker');
  const api = await servers.startApi();
  const results: Result[] = [];
  for (const request of ['create', 'update'] as const) {
    const source = taskSources(world)[request];
    const rounds: Record<'marked' | 'bare', Round[]> = { marked: [], bare: [] };
    const measure = () => measureRound(servers, api, source, load.connections, load.seconds);
    await measure();
    for (let i = 0; i < load.rounds; i += 1) {
      rounds.marked.push(await measure());
      const putBack = await withoutMarks(servers.db);
      try {
        rounds.bare.push(await measure());
      } finally {
        await putBack();
      }
    }
    const [marked, bare] = [computeFigures(rounds.marked), computeFigures(rounds.bare)];
    const line = (what: string, { rate, p50, p99, cpuPostgres }: typeof bare) =>
      `${what}: ${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, PostgreSQL ${(cpuPostgres * 1_000).toFixed(0)} us a request`;
    const name = `what search adds to ${request === 'create' ? 'POST /api/tasks' : 'PATCH /api/tasks/:id'}, ${load.connections} connections`;
    results.push({ name, goals: [], notes: [line('with marks', marked), line('without', bare)] });
  }
  await api.stop();
  return results;
};

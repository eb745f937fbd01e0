import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createIndexer } from '../../../../api/work/search/indexer.js';
import { drainMarks } from '../../../../api/work/search/index-marks.js';
import { rebuildIndex } from '../../../../api/work/search/rebuild-index.js';
import { maintenanceActivities } from '../../../../activities/maintenance.js';
import { openDatabase } from '../../../../db/connection.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { lockWaiters } from '../../../support/database.js';
import { queuePrefix, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  await app.services.db('search_dirty').delete();
});

const db = () => app.services.db;
const ALL = { maxMarks: 1_000_000, maxMs: 60_000, lockTimeoutMs: 10_000 };
const search = async (query: string, by = team.guest) => {
  const { status, body } = await app.as(by).post('/api/search', { query });
  expect(status).toBe(200);
  return { ...body, indexing: body.indexing ?? false };
};
/** The answer of a search that could index all marks first, which a busy machine may not manage at once. */
const settled = (query: string, by = team.guest) =>
  until(async () => {
    const answer = await search(query, by);
    return !answer.indexing && answer;
  });
const buildMarksSql = async ({ team_id }: { team_id: string }): Promise<number> =>
  Number((await db()('search_dirty').where({ team_id }).count())[0]?.count);

/** Many tasks of one team behind the product's back, each with a mark. */
async function plant(
  { team_id, member }: TestTeam,
  { project_id }: { project_id: string },
  count: number,
  title = 'Bolt',
): Promise<void> {
  await db().raw(
    /* sql */ `
    with given as (select uuidv7()::text as id, i from generate_series(1, :count::int) i),
      keys as (insert into item_keys select id, 'task' from given),
      marks as (insert into search_dirty (team_id, item_id) select :team_id, id from given)
    insert into tasks (task_id, project_id, team_id, title, created_by) select id, :project_id, :team_id, :title || ' ' || i, :user_id from given`,
    { count, team_id, project_id, title, user_id: member.user_id } as never,
  );
}

/** Tasks of the team whose document is not what the task says, or is missing, or should not be, unless a mark names them. */
async function wrongDocuments(): Promise<string[]> {
  const marked = new Set(await db()('search_dirty').pluck<string[]>('item_id'));
  const { rows } = await db().raw<{ rows: { item_id: string }[] }>(
    /* sql */ `
    select t.task_id as item_id from tasks t
    left join search_documents d on d.item_id = t.task_id
    left join lateral (select * from search_source s where s.item_id = t.task_id and s.deleted_at is null limit 1) s on true
    where t.team_id = ? and ((d.item_id is null) <> (s.item_id is null) or d.tsv <> search_vector(s.title, s.tags, s.body))`,
    [team.team_id],
  );
  return rows.map(({ item_id }) => item_id).filter((id) => !marked.has(id));
}

describe('after a bulk change', () => {
  it('a search answers at once with what is indexed and says that more follows, until the worker is done', async () => {
    await buildTask(app, team, project, { title: 'Bolt' });
    expect(await settled('bolt')).toMatchObject({ total: 1 });
    await plant(team, project, 2_000);
    const before = await buildMarksSql(team);
    expect(await search('bolt')).toMatchObject({ total: 1, indexing: true });
    expect(await buildMarksSql(team)).toBe(before);
    const hits = await app.as(team.guest).get('/api/ai-workspace/search?q=bolt');
    expect([hits.status, hits.headers.get('x-search-indexing')]).toEqual([200, 'true']);
    const listed = await app.as(team.guest).get('/api/work-items?q=bolt&limit=1');
    expect([listed.status, listed.headers.get('x-search-indexing')]).toEqual([200, 'true']);
    const index = createIndexer(db());
    while ((await index()) > 0);
    expect(await search('bolt')).toMatchObject({ total: 1_000, total_capped: true, indexing: false });
  });

  it('a search still finds what a member has just written in another team', async () => {
    const other = await buildTeam(app);
    await db()('memberships').insert({ team_id: other.team_id, user_id: team.guest.user_id, role: 'guest' });
    await plant(team, project, 1_001);
    await buildTask(app, other, await buildProject(app, other), { title: 'Calm' });
    expect(await until(async () => (await search('calm')).total)).toBe(1);
    expect(await search('calm')).toMatchObject({ total: 1, indexing: true });
  });
});

describe('one team’s backlog', () => {
  it('is nothing to another team’s searches, nor to its indexing', async () => {
    const other = await buildTeam(app);
    const theirs = await buildProject(app, other);
    await plant(team, project, 3_000);
    await buildTask(app, other, theirs, { title: 'Calm' });
    const before = await buildMarksSql(team);
    expect(await settled('calm', other.guest)).toMatchObject({ total: 1 });
    expect(await buildMarksSql(team)).toBe(before);
    await buildTask(app, other, theirs, { title: 'Calmer' });
    await createIndexer(db())();
    expect(await buildMarksSql(other)).toBe(0);
    expect(await buildMarksSql(team)).toBeGreaterThan(0);
  });

  it('that fails to be indexed stops no other', async () => {
    const other = await buildTeam(app);
    await plant(other, await buildProject(app, other), 1);
    await plant(team, project, 1);
    await db().raw(/* sql */ `
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`);
    await db().raw(
      `create trigger refuse before insert on search_documents for each row when (new.team_id = '${team.team_id}') execute function refuse()`,
    );
    try {
      await expect(createIndexer(db())()).rejects.toThrow('refused');
      expect([await buildMarksSql(team), await buildMarksSql(other)]).toEqual([1, 0]);
      expect(await search('bolt')).toMatchObject({ results: [], indexing: true });
    } finally {
      await db().raw('drop trigger refuse on search_documents');
      await db().raw('drop function refuse');
    }
    expect(await settled('bolt')).toMatchObject({ total: 1 });
  });
});

describe('a team that another session indexes', () => {
  it('is waited for shortly; then the answer says so', async () => {
    await plant(team, project, 1);
    await db().transaction(async (other) => {
      await other.raw(`select pg_advisory_xact_lock(hashtextextended('search:' || ?, 0))`, [team.team_id]);
      expect(await search('bolt')).toMatchObject({ results: [], indexing: true });
      expect(await drainMarks(db(), [team.team_id], { ...ALL, lockTimeoutMs: 0 })).toEqual({ indexed: 0, behind: true });
      expect(await buildMarksSql(team)).toBe(1);
    });
    expect(await settled('bolt')).toMatchObject({ total: 1 });
  });

  it('refuses to index inside a transaction', async () => {
    await db().transaction((transaction) =>
      expect(drainMarks(transaction, [team.team_id], ALL)).rejects.toThrow('after the commit'),
    );
  });
});

it('a search that takes longer than a second is a 503', async () => {
  await db().transaction(async (other) => {
    await other.raw('lock table search_documents in access exclusive mode');
    const { status, headers } = await app.as(team.guest).post('/api/search', { query: 'bolt' });
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
  });
});

it('drainers, searches and writers that race leave every document as its item', async () => {
  const pools = Array.from({ length: 2 }, () =>
    openDatabase({ url: app.database.url, poolSize: 2, name: 'assent-test', acquireTimeoutMs: 30_000 }),
  );
  const tasks = await Promise.all(Array.from({ length: 6 }, () => buildTask(app, team, project)));
  let writing = true;
  const drains = pools.map(async (pool) => {
    while (writing) await drainMarks(pool, [team.team_id], { maxMarks: 3, maxMs: 1_000, lockTimeoutMs: 0 });
  });
  const seen: boolean[] = [];
  const writers = tasks.map(async ({ task_id }, at) => {
    for (let round = 0; round < 8; round += 1) {
      const word = `unique${at}x${round}`;
      const { status } = await app.as(team.member).patch(`/api/tasks/${task_id}`, { title: word });
      if (status !== 200) continue;
      const { results, indexing } = await search(word, team.member);
      seen.push(indexing === true || results[0]?.item_id === task_id);
      if (round % 3 === 2) await app.as(team.member).post(`/api/tasks/${task_id}/comments`, { content: word });
      if (round === 6) await app.as(team.member).delete(`/api/tasks/${task_id}`);
    }
  });
  await Promise.all(writers);
  writing = false;
  await Promise.all(drains);
  await Promise.all(pools.map((pool) => pool.destroy()));
  expect(seen).not.toContain(false);
  expect(await wrongDocuments()).toEqual([]);
  await drainMarks(db(), [team.team_id], ALL);
  expect([await buildMarksSql(team), await wrongDocuments()]).toEqual([0, []]);
});

it('a drainer whose session ends in the middle loses no mark', async () => {
  await plant(team, project, 300);
  await drainMarks(db(), [team.team_id], ALL);
  await db().raw('insert into search_dirty (team_id, item_id) select team_id, task_id from tasks where team_id = ?', [
    team.team_id,
  ]);
  const drainer = openDatabase({ url: app.database.url, poolSize: 1, name: 'assent-doomed' });
  await db().transaction(async (other) => {
    const last = await other('search_dirty').where({ team_id: team.team_id }).orderBy('mark', 'desc').first();
    await other('search_documents').where({ item_id: last?.item_id }).forUpdate();
    const drained = drainMarks(drainer, [team.team_id], ALL);
    const failed = expect(drained).rejects.toThrow();
    await until(async () => (await lockWaiters(db())) > 0);
    expect(await buildMarksSql(team)).toBe(300);
    await db().raw(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'assent-doomed'`);
    await failed;
  });
  await drainer.destroy();
  expect(await buildMarksSql(team)).toBe(300);
  expect(await drainMarks(db(), [team.team_id], ALL)).toEqual({ indexed: 300, behind: false });
  expect(await wrongDocuments()).toEqual([]);
});

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

it('a worker that is killed while it indexes loses nothing, and the next one finishes', async () => {
  await plant(team, project, 6_000, 'Washer');
  const doomed = await startWorkerProcess(app);
  await until(async () => (await buildMarksSql(team)) < 6_000, 60_000);
  await kill(doomed);
  expect(await wrongDocuments()).toEqual([]);
  const next = await startWorkerProcess(app);
  await until(async () => (await buildMarksSql(team)) === 0, 120_000);
  await kill(next);
  expect(await wrongDocuments()).toEqual([]);
  expect(await search('wahser ')).toMatchObject({ total: 1_000, total_capped: true });
}, 300_000);

it('the titles of a deleted team’s notes leave the index', async () => {
  const { body: note } = await app.as(team.member).post('/api/notes', { title: 'Merger' });
  const { body: doc } = await app.as(team.member).post('/api/work-items', { type: 'doc', title: 'Merger terms' });
  const documents = () => db()('search_documents').whereIn('item_id', [note.note_id, doc.item_id]);
  const { team_id } = await db()('items').where({ item_id: note.note_id }).first('team_id');
  await drainMarks(db(), [team_id], ALL);
  expect(await documents()).toHaveLength(2);
  expect((await app.as(team.admin).delete(`/api/teams/${team_id}`)).status).toBe(409);
  await app.as(team.admin).delete(`/api/projects/${project.project_id}`);
  expect((await app.as(team.admin).delete(`/api/teams/${team_id}`)).status).toBe(200);
  await drainMarks(db(), [team_id], ALL);
  expect(await documents()).toEqual([]);
});

it('the nightly job deletes words of titles that are gone', async () => {
  await plant(team, project, 1, 'Xylophone');
  await drainMarks(db(), [team.team_id], ALL);
  const job = () => maintenanceActivities(app.services).runMaintenanceJob('search-vocabulary');
  const word = { team_id: team.team_id, word: 'xylophone' };
  await job();
  expect(await db()('search_team_words').where(word)).toHaveLength(1);
  await db()('search_documents').where({ team_id: team.team_id }).delete();
  expect(await job()).toMatch(/^deleted \d+ words$/);
  expect(await db()('search_team_words').where(word)).toEqual([]);
});

it('search-rebuild marks every item and removes documents without one', async () => {
  await plant(team, project, 3, 'Gasket');
  await db()('search_dirty').delete();
  await db()('search_documents').insert({
    item_id: 'gone',
    team_id: team.team_id,
    touched_at: new Date(),
    title: 'Gasket gone',
    tsv: '',
  });
  expect(await search('gasket')).toMatchObject({ total: 0 });
  expect(await rebuildIndex(app.services)).toBeGreaterThanOrEqual(4);
  await drainMarks(db(), await db()('search_dirty').distinct().pluck<string[]>('team_id'), ALL);
  expect(await search('gasket')).toMatchObject({ total: 3 });
  expect(await db()('search_documents').where({ item_id: 'gone' })).toEqual([]);
  expect(await wrongDocuments()).toEqual([]);
});

import { drainMarks } from '../../../../api/work/search/index-marks.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import type { SearchResults } from '../../../../api/work/search/schema.js';
import { until } from '../../../support/worker.js';

/** What one team's items may do to another team's search: nothing. */
let app: TestApp;
let team: TestTeam;
let stranger: TestTeam;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  stranger = await buildTeam(app);
  team = await buildTeam(app);
});

/** The answer of a search that could index all marks first, as one of single changes does unless the machine is busy. */
const search = async (query: string, by: Person): Promise<SearchResults> => {
  for (;;) {
    const { body } = await app.as(by).post('/api/search', { query });
    if (!body.indexing) return body as SearchResults;
  }
};
const titles = async (query: string, by: Person): Promise<string[]> =>
  (await search(query, by)).results.map(({ title }) => title);
const note = (of: TestTeam, fields: Record<string, unknown>) =>
  app.as(of.member).post('/api/notes', { title: 'Note', team_id: of.team_id, ...fields });
const buildMarksSql = async (of: TestTeam): Promise<number> =>
  (await app.services.db('search_dirty').where({ team_id: of.team_id })).length;

/** Six words nearer to `zwiebelkuchan` than `zwiebelkuchen` is. */
const NEARER = ['zwiebelkuchax', 'zwiebelkuchay', 'zwiebelkuchaz', 'zwiebelkuchaq', 'zwiebelkuchap', 'zwiebelkuchav'];

describe('words of another team', () => {
  it('do not take the place of one’s own words as corrections: whether they exist would show', async () => {
    const project = await buildProject(app, stranger);
    for (const title of NEARER) await buildTask(app, stranger, project, { title });
    await search('zwiebelkuchax', stranger.member);
    await note(team, { title: 'Zwiebelkuchen' });
    expect(await titles('zwiebelkuchan ', team.member)).toEqual(['Zwiebelkuchen']);
  });

  it('do not finish one’s own words', async () => {
    for (const title of ['deploymentaa', 'deploymentab', 'deploymentac', 'deploymentad', 'deploymentae', 'deploymentaf'])
      await note(stranger, { title });
    await search('deploymentaa', stranger.member);
    await note(team, { title: 'Deployments of the crew' });
    expect(await titles('deploymen', team.member)).toEqual(['Deployments of the crew']);
  });
});

/** 60,000 bytes that become 360,000 characters once they are normalized. */
const EXPANDING = `一${'ﷺ'.repeat(19_990)}`;
const buildNotes = (of: TestTeam, count: number, content: string) =>
  Promise.all(Array.from({ length: count }, () => note(of, { content })));

describe('texts that take long to index', () => {
  it('are indexed a few at a time, so that an indexing statement ends', async () => {
    await buildNotes(team, 12, EXPANDING);
    const { indexed, behind } = await drainMarks(app.services.db, [team.team_id], { maxMarks: 500, maxMs: 1, lockTimeoutMs: 0 });
    // None where the machine was busy for that millisecond.
    expect(indexed).toBeLessThanOrEqual(1);
    expect(behind).toBe(true);
  });

  it('count as long as they are: what normalizing adds is not indexed', async () => {
    const { rows } = await app.services.db.raw<{ rows: { at: number }[] }>(
      `select max(p) as at from unnest(search_vector('', '', ?)) as w(lexeme, positions, weights), unnest(w.positions) as p`,
      [EXPANDING],
    );
    expect(rows[0]?.at).toBeLessThan(5_000);
  });

  it('of one team leave another team its share of the time', async () => {
    await app.services.db('memberships').insert({ team_id: stranger.team_id, user_id: team.member.user_id, role: 'guest' });
    await buildNotes(stranger, 40, '漢字'.repeat(10_000));
    await note(team, { title: 'Gyroscope' });
    const teams = [stranger.team_id, team.team_id];
    // More than once, where a busy machine takes long for a single note.
    await until(async () => {
      await drainMarks(app.services.db, teams, { maxMarks: 500, maxMs: 1_000, lockTimeoutMs: 0 });
      return (await buildMarksSql(team)) === 0;
    });
    expect(await buildMarksSql(stranger)).toBeGreaterThan(0);
  });

  it('keep the words of no more than 10,000 a team', async () => {
    await app.services.db.raw(
      `insert into search_team_words (team_id, word) select ?, 'filler' || translate(i::text, '0123456789', 'abcdefghij') from generate_series(1, 10000) i`,
      [team.team_id],
    );
    await note(team, { title: 'Gyroscope' });
    expect(await titles('gyroscope', team.member)).toEqual(['Gyroscope']);
    expect(await app.services.db('search_team_words').where({ team_id: team.team_id, word: 'gyroscope' })).toEqual([]);
  });
});

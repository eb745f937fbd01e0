import { forgetWords } from '../../../../api/work/search/forget-words.js';
import { buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import type { SearchResults } from '../../../../api/work/search/schema.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team, { name: 'Apollo' });
});

const task = async (title: string, fields: Record<string, unknown> = {}): Promise<string> =>
  (await buildTask(app, team, project, { title, ...fields })).task_id;
/** The answer of a search that could index all marks first, as one of single changes does unless the machine is busy. */
const search = async (query: string, by: Person = team.guest, limit = 20): Promise<SearchResults> => {
  for (;;) {
    const { status, body } = await app.as(by).post('/api/search', { query, limit });
    expect(status).toBe(200);
    if (!body.indexing) return body as SearchResults;
  }
};
const titles = async (query: string, by?: Person): Promise<string[]> =>
  (await search(query, by)).results.map(({ title }) => title);

describe('a result', () => {
  it.each(['foo.bar@example.com', 'Node.js', 'v1.2.3', 'ABC-123', 'user_id', 'C++'])('marks the whole name: %s', async (name) => {
    await task('Valve', { description: `${'Many words come first. '.repeat(20)}Then ${name} and more.` });
    expect((await search(name.toLowerCase())).results[0]?.snippet).toContain(`Then <mark>${name}</mark> and more.`);
  });

  it('marks words where the text lacks the punctuation of the query', async () => {
    await task('Valve', { description: 'It is the relief valve that leaks.' });
    expect((await search('relief-valve')).results[0]?.snippet).toContain('<mark>relief</mark> <mark>valve</mark>');
  });

  it('is the live row with its place, a snippet and a score', async () => {
    const id = await task('Relief valve', { description: 'Opens at 40 bar & <b>whistles</b>, says the inspector.' });
    const answer = await search('inspector');
    expect(answer).toEqual({
      query: 'inspector',
      results: [
        {
          item_type: 'task',
          item_id: id,
          title: 'Relief valve',
          snippet: 'Opens at 40 bar &amp; &lt;b&gt;whistles&lt;/b&gt;, says the <mark>inspector</mark>.',
          project_id: project.project_id,
          project_name: 'Apollo',
          team_id: team.team_id,
          team_name: `Team ${team.team_id}`,
          status: 'todo',
          score: expect.any(Number),
          updated_at: expect.stringMatching(/Z$/),
        },
      ],
      total: 1,
      showing: 1,
    });
  });

  it('shows a title before a tag, and a tag before a text', async () => {
    await task('Third', { description: 'the manometer is broken' });
    await task('Second', { tags: ['manometer'] });
    await task('First: manometer');
    expect(await titles('manometer')).toEqual(['First: manometer', 'Second', 'Third']);
  });

  it('prefers what changed lately among equals', async () => {
    const [old] = [await task('Gasket one'), await task('Gasket two')];
    await app.services.db('tasks').where({ task_id: old }).update({ updated_at: '2020-01-01T00:00:00Z' });
    expect(await titles('gasket')).toEqual(['Gasket two', 'Gasket one']);
  });

  it('has the project’s own name and id for a project', async () => {
    await app.as(team.member).post('/api/projects', { name: 'Zeppelin', description: 'Hydrogen', team_id: team.team_id });
    const { results } = await search('hydrogen');
    expect(results).toMatchObject([{ item_type: 'project', title: 'Zeppelin', project_name: 'Zeppelin', status: 'active' }]);
    expect(results[0]?.project_id).toBe(results[0]?.item_id);
  });
});

describe('the query', () => {
  it('asks for all words, in any order and any form', async () => {
    await task('Inspecting the valves');
    await task('Inspect the pipe');
    expect(await titles('valve inspection')).toEqual(['Inspecting the valves']);
    expect((await search('inspect ')).total).toBe(2);
  });

  it('finds the word that is being typed', async () => {
    await task('Turbopump');
    expect(await titles('tur')).toEqual(['Turbopump']);
    expect(await titles('turbopum')).toEqual(['Turbopump']);
    expect(await titles('tu')).toEqual([]);
    expect(await titles('turb ')).toEqual([]);
    expect(await titles('"turb"')).toEqual([]);
  });

  it('finds what the words before a common last word find', async () => {
    await task('Hello, said Vera', { description: 'A greeting from the harbour' });
    await task('Hello, said the theme');
    expect(await titles('vera from')).toEqual(['Hello, said Vera']);
    for (const query of ['hello the', 'hello them']) expect(await titles(query)).toHaveLength(2);
    expect(await titles('hello theme')).toEqual(['Hello, said the theme']);
    // Alone it is taken for the beginning of another word, and nothing else stands before it here.
    expect([await titles('the'), await titles('-vera the')]).toEqual([['Hello, said the theme'], ['Hello, said the theme']]);
    expect(await titles('vera or from')).toEqual(['Hello, said Vera']);
  });

  it('takes a phrase, an exclusion and an alternative', async () => {
    await task('Relief valve');
    await task('Valve relief');
    await task('Pump');
    expect(await titles('"relief valve"')).toEqual(['Relief valve']);
    expect(await titles('“relief valve”')).toEqual(['Relief valve']);
    expect(await titles('valve -"relief valve"')).toEqual(['Valve relief']);
    expect((await titles('"relief valve" or pump')).toSorted((a, b) => a.localeCompare(b))).toEqual(['Pump', 'Relief valve']);
    expect(await titles('-valve')).toEqual([]);
    expect(await titles('the -valve')).toEqual([]);
    expect(await titles('pump or -valve')).toEqual(['Pump']);
  });

  it('reads codes, paths and addresses as their parts', async () => {
    await task('TASK-123 snake_case v1.2', { description: 'https://example.com/docs/setup?x=1 and ada@example.com' });
    for (const query of [
      'task-123',
      '123',
      '"task 123"',
      'snake_case',
      'case',
      'v1.2',
      'example.com',
      'setup',
      'ada@example.com',
    ])
      expect([query, await titles(query)]).toEqual([query, ['TASK-123 snake_case v1.2']]);
    expect(await titles('task-124')).toEqual([]);
  });

  it('finds nothing by stop words, signs or nothing at all', async () => {
    await task('The state of the art');
    for (const query of ['the of', 'of', '!!!', '   ', '""', '-', 'or', '&|:*()'])
      expect([query, await search(query)]).toEqual([query, { query, results: [], total: 0, showing: 0 }]);
    expect(await titles('the state of')).toEqual(['The state of the art']);
  });

  it.each([
    ['Größe der Résumés', ['größe', 'grosse', 'GRÖSSE', 'resume', 'résumé', 're\u0301sume\u0301s']],
    ['Привет, большой мир', ['привет', 'ПРИВЕТ', 'боль', '"большой мир"']],
    ['東京都の計画', ['東京', '京都', '東京都', '計画', '都', '東', '計']],
    ['서울 특별시', ['서울', '특별', '시']],
    ['カタカナ・テスト', ['カタカナ', 'テスト', 'ｶﾀｶﾅ']],
    ['Ｆｕｌｌｗｉｄｔｈ', ['fullwidth', 'ｆｕｌｌ']],
    ['Launch 🚀 now', ['🚀', 'launch 🚀', '"🚀 now"']],
    ['👨‍👩‍👧 family', ['👩', '👨‍👩‍👧']],
    ['नमस्ते दुनिया', ['नमस्ते', '"नमस्ते दुनिया"']],
  ])('%s is found in its own script', async (title, queries) => {
    await task(title);
    for (const query of queries) expect([query, await titles(query)]).toEqual([query, [title]]);
    expect(await titles('大阪')).toEqual([]);
    expect(await titles('🎉')).toEqual([]);
  });

  it('marks the match in a text without spaces', async () => {
    await task('Plan', { description: `${'前文'.repeat(200)}東京都の計画${'後文'.repeat(200)}` });
    const { results } = await search('東京都');
    expect(results[0]?.snippet).toContain('<mark>東京都</mark>の計画');
    expect(Array.from(results[0]?.snippet ?? '').length).toBeLessThan(300);
  });

  it('never lets a text open or close a mark of its own', async () => {
    await task('Marks', { description: 'a \u{e000}fake\u{e001} and a real jig' });
    const { results } = await search('jig');
    expect(results[0]?.snippet).toBe('a fake and a real <mark>jig</mark>');
  });
});

describe('typos', () => {
  it('are met from the words of titles, after exact hits, and the query stays as it was', async () => {
    await task('Turbopump bearing');
    await search('turbopump');
    expect(await search('turbopunp ')).toMatchObject({
      query: 'turbopunp ',
      total: 1,
      results: [{ title: 'Turbopump bearing' }],
    });
    expect(await titles('turbopupm ')).toEqual(['Turbopump bearing']);
    expect(await titles('baering ')).toEqual(['Turbopump bearing']);
    expect(await titles('turbopunp bearing')).toEqual(['Turbopump bearing']);
    await task('Turbopunp, spelt like this');
    expect(await titles('turbopunp ')).toEqual(['Turbopunp, spelt like this', 'Turbopump bearing']);
    expect(await titles('pumb ')).toEqual([]);
    expect(await titles('-turbopunp bearing')).toEqual(['Turbopump bearing']);
  });

  it('are met in several words at once, and in words of four letters beside others if nothing else is found', async () => {
    await task('Login page of the portal');
    await search('portal');
    for (const query of ['lgoin pgae ', 'logn page', 'login paeg', 'poge login ', 'portl pagr', 'logni paeg potral '])
      expect([query, await titles(query)]).toEqual([query, ['Login page of the portal']]);
    // Alone, or beside an excluded word, it would mean too much.
    for (const query of ['paeg ', 'paeg -crew ', 'paeg or crew ']) expect([query, await titles(query)]).toEqual([query, []]);
    await task('Paeg and login');
    expect(await titles('login paeg ')).toEqual(['Paeg and login']);
  });

  it('finish a word that stems differ on', async () => {
    await task('Deployment of the crew');
    await search('crew');
    expect(await titles('deploymen')).toEqual(['Deployment of the crew']);
  });

  it('are no longer met from a title that is gone', async () => {
    const id = await task('Magnetometer');
    await search('magnetometer');
    const words = () => app.services.db('search_team_words').where({ team_id: team.team_id }).orderBy('word').pluck('word');
    await forgetWords(app.services.db);
    expect(await words()).toEqual(['apollo', 'magnetometer']);
    await app.as(team.member).patch(`/api/tasks/${id}`, { title: 'Thermometer' });
    await search('thermometer');
    await forgetWords(app.services.db);
    expect(await words()).toEqual(['apollo', 'thermometer']);
  });

  it('never show the spelling of another team', async () => {
    const stranger = await buildTeam(app);
    const theirs = await buildProject(app, stranger);
    await buildTask(app, stranger, theirs, { title: 'Projekt Zwiebelkuchen' });
    await search('zwiebelkuchen', stranger.member);
    const answer = await search('zwiebelkuchem ');
    expect(answer).toEqual({ query: 'zwiebelkuchem ', results: [], total: 0, showing: 0 });
    expect(JSON.stringify(answer)).not.toMatch(/zwiebelkuchen/i);
  });
});

describe('rights', () => {
  it('show items of the caller’s teams only, guests too', async () => {
    const other = await buildTeam(app);
    const theirs = await buildProject(app, other);
    await task('Kerosene ours');
    await buildTask(app, other, theirs, { title: 'Kerosene theirs' });
    expect(await titles('kerosene', team.guest)).toEqual(['Kerosene ours']);
    expect(await search('kerosene', other.guest)).toMatchObject({ total: 1, results: [{ title: 'Kerosene theirs' }] });
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.guest.user_id, role: 'guest' });
    expect((await search('kerosene', team.guest)).total).toBe(2);
    await app.as(team.admin).delete(`/api/teams/${team.team_id}/members/${team.guest.user_id}`);
    expect(await search('kerosene', team.guest)).toMatchObject({ total: 1, results: [{ title: 'Kerosene theirs' }] });
    await app.services.db('memberships').where({ user_id: team.guest.user_id }).delete();
    expect(await search('kerosene', team.guest)).toEqual({ query: 'kerosene', results: [], total: 0, showing: 0 });
  });

  it('need a credential, and a body within its bounds', async () => {
    expect((await app.as().post('/api/search', { query: 'a' })).status).toBe(401);
    const post = async (body: unknown) => (await app.as(team.guest).post('/api/search', body)).status;
    for (const body of [
      {},
      { query: '' },
      { query: 'a'.repeat(501) },
      { query: 'a', limit: 0 },
      { query: 'a', limit: 51 },
      { query: 1 },
    ])
      expect([body, await post(body)]).toEqual([body, 422]);
    for (const body of [{ query: '🚀'.repeat(500) }, { query: 'a', limit: 50 }]) expect(await post(body)).toBe(200);
  });
});

describe('GET /api/ai-workspace/search', () => {
  const get = (query: string) => app.as(team.guest).get(`/api/ai-workspace/search${query}`);

  it('returns the same items in the shape of a hit', async () => {
    const id = await task('Umbilical');
    await search('umbil');
    const { status, body, headers } = await get('?q=umbil');
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        item_type: 'task',
        item_id: id,
        title: 'Umbilical',
        project_name: 'Apollo',
        team_name: `Team ${team.team_id}`,
        status: 'todo',
      },
    ]);
    expect(headers.get('x-search-indexing')).toBeNull();
  });

  it('422 without a query or with a limit out of range', async () => {
    for (const query of ['', '?q=', `?q=${'a'.repeat(501)}`, '?q=a&limit=0', '?q=a&limit=51', '?q=a&limit=x'])
      expect([query, (await get(query)).status]).toEqual([query, 422]);
  });
});

describe('the total', () => {
  it('is exact up to 1,000, then capped, and the newest of a common word are ranked', async () => {
    const create = async (count: number) => {
      for (let made = 0; made < count; made += 500) {
        const items = Array.from({ length: Math.min(500, count - made) }, () => ({
          title: 'Washer',
          project_id: project.project_id,
        }));
        expect((await app.as(team.member).post('/api/tasks/bulk', items)).status).toBe(200);
        // Indexes them: more at once would be left to a worker.
        await search('washer');
      }
    };
    await create(1_000);
    const exact = await search('washer', team.guest, 50);
    expect(exact).toMatchObject({ total: 1_000, showing: 50 });
    expect(exact.total_capped).toBeUndefined();
    await create(600);
    await task('Washer', { tags: ['washer'] });
    const capped = await search('washer', team.guest, 50);
    expect(capped).toMatchObject({ total: 1_000, total_capped: true, showing: 50 });
  });
});

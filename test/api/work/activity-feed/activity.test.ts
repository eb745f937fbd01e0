import { v7 as uuidv7 } from 'uuid';
import { ofEntity, ofProject, ofTeams } from '../../../../api/work/activity-feed/list-activity.js';
import { run, type Statement } from '../../../../db/statement.js';
import { buildPerson, buildProject, buildTask, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { rowsRead } from '../../../support/rows-read.js';

// The activity feed.

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let member: Client;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
  project = await buildProject(app, team);
  member = app.as(team.member);
});

interface Entry {
  activity_id: string;
  action: string;
  entity_id: string;
  timestamp: string;
}
const list = async (query = '', by = member): Promise<Entry[]> => (await by.get(`/api/activity${query}`)).body;
const ids = (entries: Entry[]) => entries.map(({ activity_id }) => activity_id);
const name = async ({ user_id }: Person) => (await app.services.db('users').where({ user_id }).first()).name as string;

/** Lines of another time, as they would have been written then; the oldest comes first. */
async function write(count: number, fields: Record<string, unknown> = {}): Promise<void> {
  for (let at = count; at > 0; at -= 1) {
    await app.services.db('activity').insert({
      activity_id: app.services.db.raw(`uuidv7(make_interval(mins => ${-at}))`),
      timestamp: app.services.db.raw(`now() - make_interval(mins => ${at})`),
      user_id: team.member.user_id,
      actor_type: 'user',
      action: 'update',
      entity_type: 'task',
      entity_id: 'old',
      entity_title: 'Old',
      team_id: team.team_id,
      project_id: project.project_id,
      summary: 'changed title',
      ...fields,
    });
  }
}

it('tells who did what to which entity, newest first, to guests too', async () => {
  const task = await buildTask(app, team, project, { title: 'Count down' });
  await app.as(team.manager).patch(`/api/tasks/${task.task_id}`, { status: 'done' });
  const seen = await list('', app.as(team.guest));
  expect(seen).toEqual([
    {
      activity_id: expect.any(String),
      timestamp: expect.stringMatching(/Z$/),
      user_id: team.manager.user_id,
      user_name: await name(team.manager),
      actor_type: 'user',
      action: 'update',
      entity_type: 'task',
      entity_id: task.task_id,
      entity_title: 'Count down',
      team_id: team.team_id,
      project_id: project.project_id,
      summary: expect.stringContaining('status'),
      cause: null,
      rejected_run: null,
      changes: { status: { from: 'todo', to: 'done' } },
    },
    expect.objectContaining({ action: 'create', entity_id: task.task_id, user_id: team.member.user_id }),
  ]);
});

it('changes of the service have no user', async () => {
  await write(1, { user_id: null, actor_type: 'system' });
  expect(await list()).toMatchObject([{ user_id: null, user_name: null, actor_type: 'system' }]);
});

it('every filter leaves the rest out, and all of them hold at once', async () => {
  const task = await buildTask(app, team, project);
  const elsewhere = await buildProject(app, team);
  const other = await buildTask(app, team, elsewhere);
  await app.as(team.manager).post(`/api/tasks/${task.task_id}/comments`, { content: 'Hello' });
  const own = await buildTeam(app);
  await app.services.db('memberships').insert({ team_id: own.team_id, user_id: team.member.user_id, role: 'guest' });
  const third = await buildTask(app, own, await buildProject(app, own));
  const entities = async (query: string) => (await list(query)).map(({ entity_id }) => entity_id);

  const comment = (await list())[1] as Entry;
  expect(await entities('')).toEqual([third.task_id, comment.entity_id, other.task_id, task.task_id]);
  expect(await entities(`?team_id=${own.team_id}`)).toEqual([third.task_id]);
  expect(await entities(`?project_id=${elsewhere.project_id}`)).toEqual([other.task_id]);
  expect(await entities('?entity_type=comment')).toEqual([comment.entity_id]);
  expect(await entities(`?entity_id=${task.task_id}`)).toEqual([task.task_id]);
  expect(await entities(`?user_id=${team.manager.user_id}`)).toEqual([comment.entity_id]);
  const all = `?team_id=${team.team_id}&project_id=${project.project_id}&entity_type=task&entity_id=${task.task_id}&user_id=${team.member.user_id}`;
  expect(await entities(all)).toEqual([task.task_id]);
  for (const wrong of ['team_id', 'project_id', 'entity_type', 'entity_id', 'user_id']) {
    const query = new URLSearchParams(all);
    query.set(wrong, wrong === 'entity_type' ? 'note' : uuidv7());
    expect([wrong, await entities(`?${query.toString()}`)]).toEqual([wrong, []]);
  }
});

it('shows nothing of other teams, by whatever filter, nor after one has left', async () => {
  const task = await buildTask(app, team, project);
  const stranger = app.as(await buildPerson(app));
  const ways = ['', `?team_id=${team.team_id}`, `?project_id=${project.project_id}`, `?entity_id=${task.task_id}`];
  for (const way of ways) expect(await list(way, stranger)).toEqual([]);
  expect(await list(ways[3])).toHaveLength(1);
  await app.services.db('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).delete();
  for (const way of ways) expect(await list(way)).toEqual([]);
});

it('says 50 at a time, at most 200, and goes on before an entry or a moment', async () => {
  await write(260);
  const whole = await list('?limit=9999');
  expect(whole).toHaveLength(200);
  expect(await list()).toEqual(whole.slice(0, 50));
  expect(await list(`?before=${whole[9]?.activity_id}&limit=5`)).toEqual(whole.slice(10, 15));
  const moment = encodeURIComponent(whole[9]?.timestamp as string);
  expect(ids(await list(`?before=${moment}&limit=5`))).toEqual(ids(whole.slice(10, 15)));
  expect(await list('?before=1969-01-01')).toEqual([]);
  const pages: string[] = [];
  let next: string | undefined = `/api/activity?limit=100&project_id=${project.project_id}`;
  while (next) {
    const answer = await member.get(next);
    pages.push(...ids(answer.body));
    const links: string = answer.headers.get('link') ?? '';
    expect(answer.headers.get('x-total-count')).toBeNull();
    expect(links.includes('rel="first"')).toBe(pages.length > 100);
    next = /<([^>]*)>; rel="next"/.exec(links)?.[1];
  }
  expect(pages).toHaveLength(260);
  expect(new Set(pages).size).toBe(260);
});

it('a line of a transaction that took its time stands where its moment says', async () => {
  await write(4);
  const began = app.services.db.raw("now() - interval '1 hour'");
  await write(2, { timestamp: began, summary: 'changed slowly' });
  const whole = await list(`?entity_id=old`);
  const moments = whole.map(({ timestamp }) => timestamp);
  expect(moments).toEqual(moments.toSorted().toReversed());
  // Lines of one millisecond have one moment.
  for (const moment of moments)
    expect(ids(await list(`?entity_id=old&before=${encodeURIComponent(moment)}`))).toEqual(
      ids(whole.filter(({ timestamp }) => timestamp < moment)),
    );
});

it.each(['limit=0', 'limit=x', 'before=yesterday', 'before=', 'before=%00'])('422 refuses %s', async (query) => {
  expect((await member.get(`/api/activity?${query}`)).status).toBe(422);
});

it('finds lines of all months, page by page, in their order', async () => {
  const other = await buildTeam(app);
  const seat = { team_id: other.team_id, user_id: team.member.user_id, role: 'member' };
  await app.services.db('memberships').insert(seat);
  await app.services.db.raw(
    `insert into activity (activity_id, actor_type, action, entity_type, entity_id, team_id, project_id, summary)
      select uuidv7(make_interval(days => -9 * n)), 'user', 'update', 'task', 'spread', case when n % 3 = 0 then ?::uuid else ?::uuid end,
        case when n % 3 > 0 then ?::uuid end, 'x'
      from generate_series(0, 80) n`,
    [other.team_id, team.team_id, project.project_id],
  );
  const all = ids(await list('?entity_id=spread&limit=200'));
  expect(all).toHaveLength(81);
  for (const filter of ['entity_type=task', `project_id=${project.project_id}`, `team_id=${team.team_id}`]) {
    const wanted = filter.startsWith('entity') ? all : all.filter((_id, n) => n % 3 !== 0);
    const paged: string[] = [];
    for (let page: string[] = []; ; paged.push(...page)) {
      const before = paged.length > 0 ? `&before=${paged.at(-1)}` : '';
      page = ids(await list(`?${filter}&limit=11${before}`));
      if (page.length === 0) break;
    }
    expect([filter, paged]).toEqual([filter, wanted]);
  }
});

/** Lines of teams that are busy, or of others: as many as `count` says, shared by turns. */
const buildWrite = (teams: string[], count: number, entity: string, projectId: string) =>
  app.services.db.raw(
    `insert into activity (actor_type, action, entity_type, entity_id, team_id, project_id, summary)
      select 'user', 'update', 'task', ?::text, (?::uuid[])[1 + n % ?::int], ?, 'x' from generate_series(1, ?::int) n`,
    [entity, teams, teams.length, projectId, count],
  );

it.each([1, 40])('finds the newest of a quiet team without reading those of others, of which %i are busy', async (busyTeams) => {
  const { db } = app.services;
  const busy = await buildTeam(app);
  const others = Array.from({ length: busyTeams - 1 }, () => uuidv7());
  await db.raw('truncate activity');
  await buildWrite([busy.team_id, ...others], 20_000, 'busy', uuidv7());
  await buildWrite([team.team_id], 20, 'quiet', project.project_id);
  const both = await buildPerson(app);
  for (const { team_id } of [team, busy]) await db('memberships').insert({ team_id, user_id: both.user_id, role: 'member' });
  const read = (statement: Statement, user: Person, projectId: string | null, entityId: string | null) => {
    const values = [user.user_id, null, projectId, null, entityId, null, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 51];
    return rowsRead(db, 'activity_%', (trx) => run(trx, statement, values));
  };
  // What PostgreSQL does not know yet of the lines decides no more than what it knows.
  for (const sql of ['select', 'analyze']) {
    await db.raw(sql);
    const reads = {
      team: await read(ofTeams, team.member, null, null),
      project: await read(ofProject, team.member, project.project_id, null),
      entity: await read(ofEntity, team.member, null, 'quiet'),
      both: await read(ofTeams, both, null, null),
      busy: await read(ofTeams, busy.member, null, null),
    };
    // As many as each page holds, of each team that it is made of.
    expect([sql, reads]).toEqual([sql, { team: 20, project: 20, entity: 20, both: 71, busy: 51 }]);
  }
});

it('reads nothing of a project for a user outside its team', async () => {
  const { db } = app.services;
  await buildWrite([team.team_id], 500, 'old', project.project_id);
  const stranger = await buildTeam(app);
  const values = [
    stranger.member.user_id,
    null,
    project.project_id,
    null,
    null,
    null,
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    51,
  ];
  expect(await rowsRead(db, 'activity_%', (trx) => run(trx, ofProject, values))).toBe(0);
});

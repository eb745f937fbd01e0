import { filteredCall } from '../../../../api/work/tasks/read/list-filtered-tasks.sql.js';
import { buildPerson, buildProject, buildTask, buildTeam } from '../../../factories/people.js';
import type { Answer } from '../../../support/app.js';
import { explain, nodesOf } from '../../../support/plans.js';
import { captureStatements } from '../../../support/statements.js';
import { plantTasks, taskWorld } from './world.js';

// Filters and pages of GET /api/tasks, which come on top of the contract's list.

const world = taskWorld();

interface Listed {
  task_id: string;
  title: string;
  assigned_to: string | null;
  subtasks: Listed[];
}
const flat = (tasks: Listed[]): Listed[] => tasks.flatMap((task) => [task, ...flat(task.subtasks)]);
const titles = ({ body }: Answer): string[] => flat(body as Listed[]).map(({ title }) => title);
const buildListPath = (more = '') => `/api/tasks?project_id=${world.project.project_id}${more}`;
const ask = (path: string) => world.member.get(path);
const getNextPage = ({ headers }: Answer): string | undefined => /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

/** Follows `next` to the end; returns the pages. */
async function pagesFrom(path: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let at: string | undefined = path; at !== undefined; at = getNextPage(pages.at(-1) as Answer)) {
    if (pages.length > 50) throw new Error('the links never end');
    pages.push(await ask(at));
  }
  return pages;
}

describe('filters', () => {
  it('each of them, and together', async () => {
    const { member, admin } = world.team;
    await world.make({
      title: 'a',
      assigned_to: member.user_id,
      priority: 'urgent',
      tags: ['ui', 'old'],
      due_date: '2026-12-01',
    });
    await world.make({
      title: 'b',
      assigned_to: admin.user_id,
      priority: 'high',
      tags: ['ui'],
      due_date: '2026-12-02T09:00:00Z',
    });
    await world.make({ title: 'c', assigned_to: member.user_id, priority: 'high', due_date: '2026-12-03' });
    const d = await world.make({ title: 'd', status: 'done' });
    await world.app.services.db('tasks').where({ task_id: d.task_id }).update({ updated_at: '2020-01-01T00:00:00Z' });
    const expected: Record<string, string> = {
      'assigned_to=me': 'a c',
      [`assigned_to=${member.user_id}`]: 'a c',
      [`assigned_to=${admin.user_id}`]: 'b',
      [`assigned_to=${world.team.guest.user_id}`]: '',
      'priority=HIGH': 'b c',
      'tag=ui': 'a b',
      'tag=u': '',
      'due_before=2026-12-02': 'a',
      'due_before=2026-12-02T09:00:01Z': 'a b',
      'due_after=2026-12-01': 'b c',
      'due_after=2026-12-02': 'c',
      'due_after=2026-12-01&due_before=2026-12-03': 'b',
      'updated_since=2021-01-01T00:00:00Z': 'a b c',
      'updated_since=2019-12-31T23:59:59%2B00:00': 'a b c d',
      'status=done': 'd',
      'assigned_to=me&priority=high': 'c',
      'assigned_to=me&priority=high&status=done': '',
      'assigned_to=me&tag=ui&due_before=2026-12-02&priority=urgent&status=todo&limit=5': 'a',
    };
    const team = `/api/tasks?team_id=${world.team.team_id}`;
    for (const [query, found] of Object.entries(expected)) {
      for (const path of [buildListPath(`&${query}`), `${team}&${query}`, `/api/tasks?${query}`]) {
        expect([path, titles(await ask(path)).join(' ')]).toEqual([path, found]);
      }
    }
  });

  it('422 names what a filter takes', async () => {
    const refused = async (query: string) => {
      const { status, body } = await ask(`/api/tasks?${query}`);
      return [status, body.detail?.errors?.[0]?.field, body.detail?.errors?.[0]?.message];
    };
    expect(await refused('priority=later')).toEqual([422, 'query.priority', expect.stringMatching(/low.*medium.*high.*urgent/)]);
    expect(await refused('status=later')).toEqual([422, 'query.status', expect.stringMatching(/todo.*in_progress.*done/)]);
    expect(await refused('assigned_to=max')).toEqual([422, 'query.assigned_to', expect.stringContaining('me')]);
    expect(await refused('due_before=tomorrow')).toEqual([422, 'query.due_before', expect.stringContaining('ISO 8601')]);
    expect(await refused('due_after=2026-02-30')).toEqual([422, 'query.due_after', expect.stringContaining('ISO 8601')]);
    expect(await refused('updated_since=2026-12-01')).toEqual([422, 'query.updated_since', expect.stringContaining('time zone')]);
    for (const query of ['tag=', 'tag=a&tag=', 'limit=0', 'limit=x', 'limit=-1', 'limit=', `tag=${'x'.repeat(51)}`, 'tag=%00']) {
      expect([query, (await refused(query))[0]]).toEqual([query, 422]);
    }
  });

  it('shows nobody the tasks of another team, and reads none of them', async () => {
    const { db } = world.app.services;
    const other = await buildTeam(world.app);
    const project = await buildProject(world.app, other);
    const { admin, member } = world.team;
    await db('memberships').insert({ team_id: other.team_id, user_id: admin.user_id, role: 'member' });
    const busy = { assigned_to: admin.user_id, priority: 'urgent', tags: ['hot'], due_date: '2026-12-01' };
    await world.make({ title: 'ours', ...busy });
    // Fewer tasks than the own team has, so that an index over all teams would be the cheaper way.
    await db('tasks')
      .whereIn('task_id', await plantTasks(world, 600))
      .update({ assigned_to: null });
    await plantTasks({ ...world, team: { ...other, member: admin }, project }, 150);
    await db('tasks').where({ team_id: other.team_id }).update(busy);
    await db.raw('analyze tasks');
    const filters = { assigned_to: admin.user_id, priority: 'urgent', tag: 'hot', due_before: '2027-01-01' };
    const roles = ['guest', 'member', 'manager', 'admin'];
    for (const [name, value] of Object.entries(filters)) {
      expect(titles(await ask(`/api/tasks?${name}=${value}`))).toEqual(['ours']);
      const filter = name === 'tag' ? { tags: [value] } : { [name]: name === 'due_before' ? value : [value] };
      const narrowing = { filters: filter, fields: [], notFields: [], after: null, maxRows: 100 };
      const { statement, values } = filteredCall('visible', [member.user_id, null, roles], narrowing, 'records', false);
      const plan = await explain(world.app.database.url, { name: `by_${name}`, text: statement.text, values });
      const read = nodesOf(plan).filter((node) => node['Relation Name'] === 'tasks' || node['Index Name']?.startsWith('tasks_'));
      expect(read.map((node) => node['Index Name'])).toEqual([
        expect.stringMatching(/^tasks_(of_team|by_due_date|by_time_of_team)$/),
      ]);
    }
  });
});

describe('pages', () => {
  it('go through the whole list in its order, with positions, times and subtasks', async () => {
    const ids: string[] = [];
    for (const position of [null, 2, null, 1, 2, null, -5]) {
      const { task_id } = await world.make({ title: `t${ids.length}`, ...(ids.length === 5 && { parent_task_id: ids[0] }) });
      if (position !== null) await world.member.patch(`/api/tasks/${task_id}`, { position });
      ids.push(task_id);
    }
    await world.app.services.db('tasks').whereIn('task_id', ids).update({ created_at: '2026-01-01T00:00:00.000123Z' });
    const order = await world.app.services
      .db('tasks')
      .whereIn('task_id', ids)
      .orderByRaw('position nulls last, created_at, task_id')
      .pluck('task_id');
    for (const scope of [buildListPath(), `/api/tasks?team_id=${world.team.team_id}`, '/api/tasks?priority=medium']) {
      for (const limit of [1, 2, 3, 6]) {
        const pages = await pagesFrom(`${scope}&limit=${limit}`);
        const seen = pages.map(({ body }) => flat(body as Listed[]).map(({ task_id }) => task_id));
        expect(new Set(seen.flat())).toEqual(new Set(order));
        expect(seen.map((page) => page.length)).toEqual(
          Array.from({ length: Math.ceil(7 / limit) }, (_, at) => Math.min(limit, 7 - at * limit)),
        );
        if (limit === 1) expect(seen.flat()).toEqual(order);
      }
    }
    const [first] = await pagesFrom(buildListPath('&limit=7'));
    expect((first as Answer).headers.get('link')).toBeNull();
  });

  it('keep the filters in the link, and lead back to the first page', async () => {
    for (const title of ['a', 'b', 'c']) await world.make({ title, priority: 'high' });
    await world.make({ title: 'd' });
    const [one, two] = await pagesFrom(buildListPath('&priority=high&limit=2'));
    expect([titles(one as Answer), titles(two as Answer)]).toEqual([['a', 'b'], ['c']]);
    const first = /<([^>]+)>; rel="first"/.exec((two as Answer).headers.get('link') ?? '')?.[1] as string;
    expect(new URL(first, 'http://x').searchParams.toString()).toBe(
      `project_id=${world.project.project_id}&priority=high&limit=2`,
    );
    expect(titles(await ask(first))).toEqual(['a', 'b']);
  });

  it('go on after a task in the trash; 422 for a task that is gone or of another team', async () => {
    const [a] = [await world.make({ title: 'a' }), await world.make({ title: 'b' })];
    await world.member.delete(`/api/tasks/${a.task_id}`);
    expect(titles(await ask(buildListPath(`&before=${a.task_id}`)))).toEqual(['b']);
    const other = await buildTeam(world.app);
    const foreign = await buildTask(world.app, other, await buildProject(world.app, other));
    for (const cursor of [foreign.task_id, 'nothing', '%00', '']) {
      const { status, body } = await ask(buildListPath(`&limit=1&before=${cursor}`));
      expect([cursor, status, body.error_code]).toEqual([cursor, 422, 'VALIDATION_ERROR']);
    }
    const stranger = world.app.as(await buildPerson(world.app));
    expect((await stranger.get(`/api/tasks?limit=1&before=${a.task_id}`)).status).toBe(422);
  });

  it('have a tag that changes with the page and with whether another one follows', async () => {
    const a = await world.make({ title: 'a' });
    const path = buildListPath('&limit=1');
    const buildEtag = async () => (await ask(path)).headers.get('etag') as string;
    const alone = await buildEtag();
    const known = (etag: string) => world.member.get(path, undefined, { headers: { 'if-none-match': etag } });
    expect((await known(alone)).status).toBe(304);
    await world.make({ title: 'b' });
    const followed = await buildEtag();
    expect([followed === alone, (await known(alone)).status, (await known(followed)).status]).toEqual([false, 200, 304]);
    await world.member.patch(`/api/tasks/${a.task_id}`, { title: 'c' });
    expect((await known(followed)).status).toBe(200);
  });

  it('a list as the contract has it says where it was cut, and goes on there', async () => {
    const ids = await plantTasks(world, 10_003);
    const whole = await ask(buildListPath());
    expect(whole.body).toHaveLength(10_000);
    expect(whole.headers.get('x-truncated')).toBe('true');
    const rest = await ask(getNextPage(whole) as string);
    expect((rest.body as Listed[]).map(({ task_id }) => task_id)).toEqual(ids.slice(10_000));
    expect([rest.headers.get('x-truncated'), getNextPage(rest)]).toEqual([null, undefined]);
    const all = await ask('/api/tasks');
    expect([all.headers.get('x-truncated'), (await ask(getNextPage(all) as string)).body.length]).toEqual(['true', 3]);
    expect((await pagesFrom(buildListPath('&limit=500&before=' + ids[9_000])))[2]?.body).toHaveLength(2);
  });

  it('a list without new parameters keeps its prepared statement', async () => {
    const sent = async (path: string) => (await captureStatements(() => ask(path))).map(({ name }) => name);
    expect(await sent(buildListPath())).toContain('list_tasks_project');
    expect(await sent(buildListPath('&status=todo'))).toContain('list_tasks_project_by_status');
    expect(await sent(buildListPath('&limit=1'))).not.toContain('list_tasks_project');
  });
});

import { run } from '../../../../db/statement.js';
import type { Answer } from '../../../support/app.js';
import {
  escapesStatement,
  type Extra,
  markColumns,
  PLAIN,
  SIZE_JOIN,
  WITH_FIELDS,
} from '../../../../api/work/tasks/read/list-tasks.sql.js';
import { plantTasks, taskWorld } from './world.js';

// Lists of tasks end at their maximum of bytes, with every field of each task, and go on by `Link`.

const world = taskWorld();
const MAX_BYTES = 60_000;
const WIDE = '\u0001"é'.repeat(600);

interface Listed extends Record<string, unknown> {
  task_id: string;
  subtasks?: Listed[];
}
const flat = (tasks: Listed[]): Listed[] => tasks.flatMap(({ subtasks = [], ...task }) => [task as Listed, ...flat(subtasks)]);
const byId = (tasks: Listed[]): Listed[] => tasks.toSorted((a, b) => (a.task_id < b.task_id ? -1 : 1));
const getNextPage = ({ headers }: Answer): string | undefined => /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

async function within<Result>(maxBytes: number, work: () => Promise<Result>): Promise<Result> {
  const { config } = world.app.services;
  const before = config.LIST_MAX_BYTES;
  config.LIST_MAX_BYTES = maxBytes;
  return work().finally(() => (config.LIST_MAX_BYTES = before));
}

/** Follows a list to its end. */
async function follow(path: string, maxBytes: number): Promise<Listed[][]> {
  const pages: Listed[][] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer = await world.member.get(next);
    expect(answer.status).toBe(200);
    next = getNextPage(answer);
    expect(answer.headers.get('x-truncated')).toBe(next === undefined ? null : 'true');
    if (answer.body.length > 1) expect(Buffer.byteLength(JSON.stringify(answer.body))).toBeLessThanOrEqual(maxBytes);
    pages.push(flat(answer.body as Listed[]));
  }
  return pages;
}

/** Gives each task values of almost so many bytes. */
async function fill(bytes: number): Promise<void> {
  const { db } = world.app.services;
  await db.raw(
    `insert into custom_field_documents (entity_id, members)
     select task_id, '"notes":"' || repeat('n', :bytes::int) || '"' from tasks where team_id = :team`,
    { bytes, team: world.team.team_id } as never,
  );
}

describe.each([1, 5])('families of %s', (family) => {
  it.each([
    ['a project', () => `/api/tasks?project_id=${world.project.project_id}`],
    ['a team', () => `/api/tasks?team_id=${world.team.team_id}`],
    ['all teams', () => '/api/tasks'],
    ['a status', () => `/api/tasks?status=todo&project_id=${world.project.project_id}`],
    ['a filter', () => '/api/tasks?priority=medium'],
    ['values', () => `/api/tasks?team_id=${world.team.team_id}&include=custom_fields`],
    ['a limit', () => '/api/tasks?limit=500&include=custom_fields'],
    ['my tasks', () => '/api/tasks/my'],
  ])('%s: each task once, with every field', async (_name, buildPath) => {
    const ids = await plantTasks(world, 100, { family, description: WIDE });
    await fill(3_000);
    const path = buildPath();
    const whole = flat((await world.member.get(path)).body as Listed[]);
    expect(whole).toHaveLength(100);
    const pages = await within(MAX_BYTES, () => follow(path, MAX_BYTES));
    expect(pages.length).toBeGreaterThan(5);
    // A page of few bytes would be as bad as one of too many: all but the last are at least half full.
    for (const page of pages.slice(0, -1)) expect(JSON.stringify(page).length).toBeGreaterThan(MAX_BYTES / 2);
    expect(byId(pages.flat())).toEqual(byId(whole));
    if (family === 1) expect(pages.flat().map(({ task_id }) => task_id)).toEqual(ids);
  });

  it('a page whose first task is too large has this one', async () => {
    const ids = await plantTasks(world, 3, { family });
    expect((await within(1, () => follow('/api/tasks', 1))).map((page) => page.map(({ task_id }) => task_id))).toEqual(
      ids.map((id) => [id]),
    );
  });
});

it('60 tasks with values of 200 kB make two answers of at most 10 MB', async () => {
  const ids = await plantTasks(world, 60);
  await fill(200_000);
  const pages = await follow(`/api/tasks?project_id=${world.project.project_id}&include=custom_fields`, 10_000_000);
  expect(pages.map((page) => page.length)).toEqual([49, 11]);
  expect(pages.flat().map(({ task_id }) => task_id)).toEqual(ids);
});

it('a tree ends early too, level by level, and never without the task itself', async () => {
  const [top, ...below] = (await plantTasks(world, 20, { family: 20, description: WIDE })) as [string, ...string[]];
  await world.make({ parent_task_id: below[0] as string });
  await fill(3_000);
  for (const include of ['', '?include=custom_fields']) {
    const cut = await within(MAX_BYTES, () => world.member.get(`/api/tasks/${top}${include}`));
    const ids = flat([cut.body as Listed]).map(({ task_id }) => task_id);
    expect(cut.headers.get('x-truncated')).toBe('true');
    expect(Buffer.byteLength(JSON.stringify(cut.body))).toBeLessThanOrEqual(MAX_BYTES);
    expect(ids).toEqual([top, ...below].slice(0, ids.length));
    expect(ids.length).toBeGreaterThan(5);
    const alone = await within(1, () => world.member.get(`/api/tasks/${top}${include}`));
    expect([alone.headers.get('x-truncated'), alone.body.task_id, alone.body.subtasks]).toEqual(['true', top, []]);
    const whole = await world.member.get(`/api/tasks/${top}${include}`);
    expect([whole.headers.get('x-truncated'), flat([whole.body as Listed]).length]).toEqual([null, 21]);
  }
});

it('a tree of values of 200 kB ends at 10 MB, and others that are read with it are whole', async () => {
  const [top] = await plantTasks(world, 60, { family: 60 });
  await fill(200_000);
  const other = await world.make();
  const [cut, whole] = await Promise.all(
    [top, other.task_id].map((id) => world.member.get(`/api/tasks/${id}?include=custom_fields`)),
  );
  expect([cut?.headers.get('x-truncated'), flat([cut?.body as Listed]).length]).toEqual(['true', 49]);
  expect([whole?.headers.get('x-truncated'), whole?.body.task_id]).toEqual([null, other.task_id]);
});

it('a list that ends early has a tag of its own, which holds until a task changes', async () => {
  const [first] = await plantTasks(world, 20, { description: WIDE });
  const path = `/api/tasks?project_id=${world.project.project_id}`;
  const statusFor = async (etag: string) =>
    (await world.member.get(path, undefined, { headers: { 'if-none-match': etag } })).status;
  await within(MAX_BYTES, async () => {
    const etag = (await world.member.get(path)).headers.get('etag') as string;
    expect(await statusFor(etag)).toBe(304);
    await world.member.patch(`/api/tasks/${first}`, { title: 'Changed' });
    expect(await statusFor(etag)).toBe(200);
  });
});

it('the bytes of a record are known beforehand: never too few, and at most a hundred too many', async () => {
  const { db } = world.app.services;
  const child = await world.make({
    parent_task_id: (await world.make()).task_id,
    recurrence: { rule: 'FREQ=WEEKLY', mode: 'on_complete', timezone: 'UTC' },
    due_date: '2026-12-01',
  });
  await plantTasks(world, 2, { description: WIDE });
  await world.make({
    tags: ['"quoted"', 'é'],
    estimated_hours: 0.123456789012345,
    estimate: 999,
    assigned_to: world.team.member.user_id,
  });
  await db('tasks').where({ task_id: child.task_id }).update({
    completed_at: db.fn.now(),
    position: -1.234567890123456e-300,
    actual_hours: 123_456.123_456_789,
    version: 2_147_483_647,
  });
  await fill(10);
  const measureSurplus = async (extra: Extra): Promise<number[]> => {
    const { rows } = await db.raw(
      `select ${markColumns('s', extra)}, octet_length(${extra.record('task_json(r)::text')}) as exact
       from (select task_id, parent_task_id, 0 as mark from tasks) t join tasks r using (task_id) ${extra.join} ${SIZE_JOIN}`,
    );
    const [found] = await run<{ escapes: string }>(db, escapesStatement, [rows.map((row: Listed) => row.task_id)]);
    const escapes = found?.escapes.split('\n').map(Number) ?? [];
    return (rows as { bytes: number; exact: number }[]).map(({ bytes, exact }, at) => bytes + Number(escapes[at]) - exact);
  };
  for (const surplus of [await measureSurplus(PLAIN), await measureSurplus(WITH_FIELDS)]) {
    expect(surplus.length).toBeGreaterThanOrEqual(5);
    expect(Math.min(...surplus)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...surplus)).toBeLessThanOrEqual(100);
  }
});

import { get } from 'node:http';
import { buildPerson, buildProject, buildTask, buildTeam } from '../../../factories/people.js';
import { until } from '../../../support/worker.js';
import { plantTasks, taskWorld } from './world.js';

const world = taskWorld();

interface Listed {
  task_id: string;
  title: string;
  subtasks: Listed[];
}
const buildListPath = () => `/api/tasks?project_id=${world.project.project_id}`;
const ask = (path: string, etag?: string | null) =>
  world.member.get(path, undefined, etag ? { headers: { 'if-none-match': etag } } : {});
/** `a(b c(d))`: ids with what is nested below them. */
const shape = (tasks: Listed[]): string =>
  tasks.map(({ title, subtasks }) => (subtasks.length > 0 ? `${title}(${shape(subtasks)})` : title)).join(' ');
const size = (tasks: Listed[]): number => tasks.reduce((sum, { subtasks }) => sum + 1 + size(subtasks), 0);

describe('what is listed', () => {
  it('subtasks below their parents, in the order of position, then age', async () => {
    const a = await world.make({ title: 'a' });
    const b = await world.make({ title: 'b' });
    const c = await world.make({ title: 'c', parent_task_id: a.task_id });
    await world.make({ title: 'd', parent_task_id: a.task_id });
    await world.make({ title: 'e', parent_task_id: c.task_id });
    const last = await world.make({ title: 'f', parent_task_id: a.task_id });
    await world.member.patch(`/api/tasks/${last.task_id}`, { position: -1 });
    await world.member.patch(`/api/tasks/${b.task_id}`, { position: 0.5 });
    for (const path of [buildListPath(), `/api/tasks?team_id=${world.team.team_id}`, '/api/tasks'])
      expect(shape((await ask(path)).body)).toBe('b a(f c(e) d)');
    expect(shape([(await ask(`/api/tasks/${a.task_id}`)).body])).toBe('a(f c(e) d)');
  });

  it('all statuses under one parent; a match whose parent does not match stands at the top', async () => {
    const a = await world.make({ title: 'a' });
    const b = await world.make({ title: 'b', parent_task_id: a.task_id, status: 'done' });
    await world.make({ title: 'c', parent_task_id: b.task_id });
    await world.make({ title: 'd', parent_task_id: a.task_id, status: 'in_review' });
    const listed = async (filter: string) => shape((await ask(`${buildListPath()}${filter}`)).body);
    expect(await listed('')).toBe('a(b(c) d)');
    expect(await listed('&status=todo')).toBe('a c');
    for (const spelling of ['in_review', 'in-review', 'In-Review', 'IN_REVIEW'])
      expect(await listed(`&status=${spelling}`)).toBe('d');
    expect(shape((await ask('/api/tasks?status=done')).body)).toBe('b');
    expect(shape((await ask(`/api/tasks?team_id=${world.team.team_id}&status=done`)).body)).toBe('b');
  });

  it('422 for a status that is none, and for a place given twice', async () => {
    for (const query of ['status=later', 'status=', 'status=todo&status=later', 'team_id=a&team_id=b'])
      expect((await ask(`/api/tasks?${query}`)).status).toBe(422);
  });

  it('team_id counts only without project_id; malformed ids find nothing', async () => {
    const foreign = await buildTeam(world.app);
    await world.make({ title: 'a' });
    expect(shape((await ask(`${buildListPath()}&team_id=${foreign.team_id}`)).body)).toBe('a');
    for (const team_id of [foreign.team_id, 'garbage', world.team.team_id.toUpperCase()])
      expect((await ask(`/api/tasks?team_id=${team_id}`)).body).toEqual([]);
    expect((await ask('/api/tasks?project_id=garbage')).status).toBe(404);
    const stranger = world.app.as(await buildPerson(world.app));
    expect((await stranger.get(buildListPath())).status).toBe(403);
    expect((await stranger.get('/api/tasks')).body).toEqual([]);
    expect((await world.app.as(world.team.guest).get(buildListPath())).status).toBe(200);
  });

  it('nothing from the trash: neither a task, nor the tasks of a project', async () => {
    const project = await buildProject(world.app, world.team);
    await buildTask(world.app, world.team, project, { assigned_to: world.team.member.user_id });
    const task = await world.make({ assigned_to: world.team.member.user_id });
    await world.member.delete(`/api/tasks/${task.task_id}`);
    await world.member.delete(`/api/projects/${project.project_id}`);
    for (const path of [buildListPath(), '/api/tasks', '/api/tasks/my']) expect((await ask(path)).body).toEqual([]);
    expect((await ask(`/api/tasks?project_id=${project.project_id}`)).status).toBe(404);
  });

  it('every visible project, over all teams, in one order', async () => {
    const other = await buildTeam(world.app);
    await world.app.services
      .db('memberships')
      .insert({ team_id: other.team_id, user_id: world.team.member.user_id, role: 'guest' });
    const there = await buildProject(world.app, other);
    await world.make({ title: 'a' });
    await buildTask(world.app, other, there, { title: 'b' });
    await world.make({ title: 'c' });
    expect(shape((await ask('/api/tasks')).body)).toBe('a b c');
  });

  it('my tasks are flat, mine alone, and gone with my membership', async () => {
    const mine = { assigned_to: world.team.member.user_id };
    const a = await world.make({ title: 'a', ...mine });
    await world.make({ title: 'b', parent_task_id: a.task_id, ...mine });
    await world.make({ title: 'c', assigned_to: world.team.admin.user_id });
    const { body } = await ask('/api/tasks/my');
    expect(body.map((task: Listed) => task.title)).toEqual(['a', 'b']);
    expect(body[0]).not.toHaveProperty('subtasks');
    await world.app.services.db('memberships').where({ user_id: world.team.member.user_id }).delete();
    expect((await ask('/api/tasks/my')).body).toEqual([]);
  });
});

describe('ETag and If-None-Match of a list', () => {
  const LISTS = [
    ['a project', buildListPath],
    ['a team', () => `/api/tasks?team_id=${world.team.team_id}`],
    ['everything', () => '/api/tasks'],
    ['my tasks', () => '/api/tasks/my'],
    ['a status', () => `${buildListPath()}&status=todo`],
  ] as const;

  it.each(LISTS)('%s: 304 while unchanged, and another tag after each change', async (_what, buildPath) => {
    const path = buildPath();
    const { db } = world.app.services;
    const mine = { assigned_to: world.team.member.user_id };
    const task = await world.make(mine);
    const other = await world.make(mine);
    const id = task.task_id;
    const changes: [string, () => Promise<unknown>][] = [
      ['update', () => world.member.patch(`/api/tasks/${id}`, { title: 'Changed' })],
      ['create', () => world.make(mine)],
      ['nest', () => world.member.patch(`/api/tasks/${id}`, { parent_task_id: other.task_id })],
      ['trash', () => world.member.delete(`/api/tasks/${id}`)],
      ['restore', () => world.member.post(`/api/trash/task/${id}/restore`)],
      ['link', () => db('forge_links').insert({ task_id: id, repo: 'a/b', kind: 'issue', number: 1 })],
      ['unlink', () => db('forge_links').where({ task_id: id }).delete()],
      ['filter', () => world.member.patch(`/api/tasks/${id}`, { status: 'done', assigned_to: null })],
    ];
    const seen = new Set<string>();
    for (const [what, change] of changes) {
      const before = await ask(path);
      const etag = before.headers.get('etag');
      expect(etag).toMatch(/^W\/"\d+-[0-9a-z]+"$/);
      for (const held of [etag, `"x", ${etag}`, etag?.slice(2), '*']) {
        const again = await ask(path, held);
        expect([what, again.status, again.body, again.headers.get('etag')]).toEqual([what, 304, undefined, etag]);
      }
      seen.add(etag as string);
      await change();
      const after = await ask(path, etag);
      expect([what, after.status]).toEqual([what, 200]);
      expect(after.headers.get('etag')).toBe((await ask(path)).headers.get('etag'));
      // Without the one task that was changed, the list is what it was when that lay in the trash; and says so.
      if (what !== 'filter') expect([what, seen.has(after.headers.get('etag') as string)]).toEqual([what, false]);
    }
  });

  it('losing a team changes it, and a list that may no longer be read is refused', async () => {
    await world.make();
    const [all, project] = [await ask('/api/tasks'), await ask(buildListPath())];
    await world.app.services.db('memberships').where({ user_id: world.team.member.user_id }).delete();
    expect(await ask('/api/tasks', all.headers.get('etag'))).toMatchObject({ status: 200, body: [] });
    expect((await ask(buildListPath(), project.headers.get('etag'))).status).toBe(403);
    expect((await ask(buildListPath(), '*')).status).toBe(403);
    expect((await ask('/api/tasks?project_id=garbage', '*')).status).toBe(404);
  });

  it('an empty list has one too; HEAD tells it without the body; clients may keep it but must ask', async () => {
    const etag = (await ask(buildListPath())).headers.get('etag');
    expect((await ask(buildListPath(), etag)).status).toBe(304);
    await world.make();
    const { headers } = await ask(buildListPath());
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['private, no-cache', 'Authorization']);
    const head = await fetch(`${world.app.url}${buildListPath()}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${world.team.member.token}` },
    });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, headers.get('etag'), '']);
  });
});

describe('ETag of a task', () => {
  it('is its version, which If-Match takes, and changes with what is shown below it', async () => {
    const task = await world.make();
    const path = `/api/tasks/${task.task_id}`;
    const seen: string[] = [];
    const tag = async () => {
      const { status, headers } = await ask(path, seen.at(-1));
      expect(status).toBe(200);
      seen.push(headers.get('etag') as string);
      expect((await ask(path, seen.at(-1))).status).toBe(304);
      expect((await ask(path, `W/${seen.at(-1)}`)).status).toBe(304);
      return seen.at(-1);
    };
    expect(await tag()).toBe('"1"');
    const child = await world.make({ parent_task_id: task.task_id });
    expect(await tag()).toMatch(/^"1-[\w-]{16}"$/);
    await world.member.patch(`/api/tasks/${child.task_id}`, { title: 'Other' });
    expect(await tag()).toMatch(/^"1-/);
    await world.app.services.db('forge_links').insert({ task_id: child.task_id, repo: 'a/b', kind: 'issue', number: 1 });
    const etag = (await tag()) as string;
    const updated = await world.member.patch(path, { title: 'Own' }, { headers: { 'if-match': etag } });
    expect([updated.status, updated.headers.get('etag')]).toEqual([200, '"2"']);
    expect(await tag()).toMatch(/^"2-/);
    await world.member.delete(`/api/tasks/${child.task_id}`);
    expect(await tag()).toBe('"2"');
    await world.app.services.db('forge_links').insert({ task_id: task.task_id, repo: 'a/b', kind: 'issue', number: 2 });
    expect(await tag()).toMatch(/^"2-/);
    expect(new Set(seen).size).toBe(seen.length);
    const head = await fetch(`${world.app.url}${path}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${world.team.member.token}` },
    });
    expect([head.headers.get('etag'), await head.text()]).toEqual([seen.at(-1), '']);
  });
});

describe('long lists', () => {
  // Long enough for a slow reader; list-bytes.test.ts has the limit of bytes.
  beforeAll(() => {
    world.app.services.config.LIST_MAX_BYTES = 100_000_000;
  });

  /** Reads an answer piece by piece, by way of `onPiece`, which may make the server wait. */
  const readSlowly = (path: string, onPiece: (nth: number) => Promise<void> | void) =>
    new Promise<{ text: string; pieces: number }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${world.team.member.token}` };
      get(`${world.app.url}${path}`, { headers }, (response) => {
        void (async () => {
          const parts: Buffer[] = [];
          for await (const part of response as AsyncIterable<Buffer>) {
            parts.push(part);
            await onPiece(parts.length);
          }
          resolve({ text: Buffer.concat(parts).toString(), pieces: parts.length });
        })().catch(reject);
      }).on('error', reject);
    });

  it.each([999, 1000, 1001, 1501])('%s tasks come whole, nested, in order', async (count) => {
    const ids = await plantTasks(world, count, { family: 3 });
    const { status, headers, body } = await ask(buildListPath());
    expect([status, headers.get('x-truncated'), headers.get('content-type')]).toEqual([
      200,
      null,
      'application/json; charset=utf-8',
    ]);
    const flattened = (tasks: Listed[]): string[] => tasks.flatMap(({ task_id, subtasks }) => [task_id, ...flattened(subtasks)]);
    expect(flattened(body)).toEqual(ids);
    expect(body.every((task: Listed) => task.subtasks.length === (task === body.at(-1) ? (count - 1) % 3 : 2))).toBe(true);
    expect((await ask(buildListPath(), headers.get('etag'))).status).toBe(304);
    const mine = await ask('/api/tasks/my');
    expect(mine.body.map((task: Listed) => task.task_id)).toEqual(ids);
  });

  it('a parent far down the list has its children all the same', async () => {
    const ids = await plantTasks(world, 1600);
    await world.app.services.db('tasks').where({ task_id: ids[3] }).update({ parent_task_id: ids[1550] });
    await world.app.services.db('tasks').where({ task_id: ids[1550] }).update({ parent_task_id: ids[700] });
    const { body } = await ask(buildListPath());
    expect(size(body)).toBe(1600);
    const found = body.find((task: Listed) => task.task_id === ids[700]);
    expect(found).toMatchObject({ subtasks: [{ task_id: ids[1550], subtasks: [{ task_id: ids[3] }] }] });
  });

  it('10,000 are whole, of 10,001 the first 10,000 with X-Truncated', async () => {
    const ids = await plantTasks(world, 10_000);
    const whole = await ask(buildListPath());
    expect([size(whole.body), whole.headers.get('x-truncated')]).toEqual([10_000, null]);
    await plantTasks(world, 1);
    for (const path of [buildListPath(), '/api/tasks', '/api/tasks/my', `/api/tasks?team_id=${world.team.team_id}`]) {
      const cut = await ask(path);
      expect([path, cut.headers.get('x-truncated')]).toEqual([path, 'true']);
      expect(cut.body.map((task: Listed) => task.task_id)).toEqual(ids);
      expect((await ask(path, cut.headers.get('etag'))).status).toBe(304);
    }
  });

  it('a task has 10,000 below it whole, of 10,001 all but the deepest with X-Truncated, and others that are read with it', async () => {
    const [top, ...below] = (await plantTasks(world, 10_001, { family: 10_001 })) as [string, ...string[]];
    // As autovacuum does within a minute: plans of when the table was empty would read all of it for each task.
    await world.app.services.db.raw('analyze tasks');
    const small = await world.make();
    const path = `/api/tasks/${top}`;
    const whole = await ask(path);
    expect([size([whole.body]), whole.headers.get('x-truncated')]).toEqual([10_001, null]);
    const deepest = await world.make({ parent_task_id: below[0] as string });
    const [cut, again, other, ...single] = await Promise.all(
      [path, path, `/api/tasks/${small.task_id}`, `/api/tasks/${deepest.task_id}`].map((one) => ask(one)),
    );
    expect([cut?.headers.get('x-truncated'), again?.headers.get('x-truncated')]).toEqual(['true', 'true']);
    expect(cut?.body.subtasks.map((task: Listed) => task.task_id)).toEqual(below);
    expect(cut?.body.subtasks[0].subtasks).toEqual([]);
    expect((await ask(path, cut?.headers.get('etag'))).status).toBe(304);
    expect([other, ...single].map((answer) => [answer?.body.task_id, answer?.headers.get('x-truncated')])).toEqual([
      [small.task_id, null],
      [deepest.task_id, null],
    ]);
  });

  it('shows concurrent changes as stored, and keeps the children of a deleted task', async () => {
    // Long enough that the server cannot write everything into the socket's buffers at once.
    const ids = await plantTasks(world, 4000, { family: 4, description: 'é'.repeat(1500) });
    const { db } = world.app.services;
    let changed = false;
    const { text } = await readSlowly(buildListPath(), async () => {
      if (changed) return;
      changed = true;
      await db('tasks').where({ task_id: ids[3996] }).update({ deleted_at: db.fn.now() });
      await db('tasks').where({ task_id: ids[3992] }).update({ title: 'Changed', version: 2 });
    });
    const body = JSON.parse(text) as Listed[];
    expect(size(body)).toBe(3999);
    expect(shape(body.slice(-4))).toBe('Changed(Planted 3993 Planted 3994 Planted 3995) Planted 3997 Planted 3998 Planted 3999');
  });

  it('stops the list for a caller who loses the role while reading', async () => {
    await plantTasks(world, 4000, { description: 'é'.repeat(1500) });
    let removed = false;
    const { text } = await readSlowly(buildListPath(), async () => {
      if (removed) return;
      removed = true;
      await world.app.services.db('memberships').where({ user_id: world.team.member.user_id }).delete();
    });
    expect(size(JSON.parse(text) as Listed[])).toBeLessThan(4000);
  });

  it('a slow reader holds no connection, and what has been sent of a failed answer never looks whole', async () => {
    await plantTasks(world, 4000, { description: 'é'.repeat(1500) });
    const active = async () =>
      Number(
        (
          await world.app.services.db.raw(
            "select count(*) from pg_stat_activity where datname = current_database() and (state <> 'idle') and pid <> pg_backend_pid()",
          )
        ).rows[0].count,
      );
    let waited = false;
    await readSlowly(buildListPath(), async () => {
      if (waited) return;
      waited = true;
      // The pieces that were asked for are read to their end; no other is while nobody takes what was sent.
      await until(async () => (await active()) === 0);
    });
    let broken = false;
    const failing = readSlowly(buildListPath(), async () => {
      if (broken) return;
      broken = true;
      await world.app.services.db.raw('alter table tasks rename to tasks_away');
    });
    await expect(failing).rejects.toThrow(/aborted/);
    await world.app.services.db.raw('alter table tasks_away rename to tasks');
  });

  it('10,000 nested tasks go out in many pieces, whole', async () => {
    await plantTasks(world, 10_000, { family: 5, description: 'x'.repeat(400) });
    const { text, pieces } = await readSlowly(buildListPath(), () => undefined);
    expect(size(JSON.parse(text) as Listed[])).toBe(10_000);
    expect(pieces).toBeGreaterThan(10);
  });
});

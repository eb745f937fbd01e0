import { v7 as uuidv7 } from 'uuid';
import {
  closeStaysStatement,
  commitTasksStatement,
  figuresStatement,
} from '../../../../api/work/cycles/completion/figures.sql.js';
import { moveTasksStatement } from '../../../../api/work/cycles/tasks/tasks-of-cycle.sql.js';
import { run, type Statement } from '../../../../db/statement.js';
import { buildAccount, PASSWORD } from '../../../factories/accounts.js';
import { subscribe } from '../../../factories/events.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../../support/app.js';
import { rowsRead } from '../../../support/rows-read.js';
import { createCycle, insertTasks } from './support.js';

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
  await subscribe(app, team);
  project = await buildProject(app, team);
  member = app.as(team.member);
});

const UNKNOWN = '019a9f00-0000-7000-8000-000000000001';
const TODAY = () => new Date().toISOString().slice(0, 10);
const add = (cycle_id: string, task_ids: string[]) => member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids });
const start = (cycle_id: string) => member.post(`/api/sprints/${cycle_id}/start`);
const complete = (cycle_id: string, body: Record<string, unknown> = {}) => member.post(`/api/sprints/${cycle_id}/complete`, body);
const report = async (cycle_id: string) => (await member.get(`/api/sprints/${cycle_id}/report`)).body;
const toCycle = async (task_id: string) => (await member.get(`/api/tasks/${task_id}`)).body.cycle_id;
const events = (type: string) =>
  app.services.db('outbox').where({ kind: 'event', subject: type, team_id: team.team_id }).orderBy('outbox_id');
const listChanges = (task_id: string) =>
  app.services.db('audit_entries').where({ entity_id: task_id, action: 'update' }).orderBy('timestamp').select('details');

describe('records', () => {
  it('creates a planned cycle of a project, whose team follows, and numbers the cycles of each place', async () => {
    const { status, body } = await member.post('/api/sprints', {
      name: '  Cycle 1 ',
      goal: 'Ship it',
      ...project,
      start_date: '2026-11-09T10:00:00Z',
      end_date: '2026-11-20',
    });
    expect([status, body]).toEqual([
      201,
      {
        cycle_id: expect.any(String),
        name: 'Cycle 1',
        goal: 'Ship it',
        team_id: team.team_id,
        ...project,
        number: 1,
        start_date: '2026-11-09',
        end_date: '2026-11-20',
        status: 'planned',
        auto_complete: false,
        repeats: false,
        task_count: 0,
        done_count: 0,
        created_by: team.member.user_id,
        created_at: expect.any(String),
        updated_at: body.created_at,
        started_at: null,
        completed_at: null,
        snapshot: null,
      },
    ]);
    const numbers = await Promise.all(
      Array.from({ length: 5 }, () => createCycle(member, { team_id: team.team_id })).map(async (made) => (await made).number),
    );
    expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    expect((await createCycle(member, project)).number).toBe(2);
    expect((await app.as(team.guest).get(`/api/sprints/${body.cycle_id}`)).body).toEqual(body);
  });

  it('lists the cycles of a team, oldest first, by status and in pages', async () => {
    const ids: string[] = [];
    for (const name of ['A', 'B', 'C']) ids.push((await createCycle(member, { team_id: team.team_id, name })).cycle_id);
    await start(ids[1] as string);
    const list = async (more: string) => {
      const { body } = await member.get(`/api/sprints?team_id=${team.team_id}${more}`);
      return (body as { cycle_id: string }[]).map(({ cycle_id }) => cycle_id);
    };
    expect(await list('')).toEqual(ids);
    expect(await list('&status=planned')).toEqual([ids[0], ids[2]]);
    expect(await list('&limit=1&offset=1')).toEqual([ids[1]]);
    expect((await member.get('/api/sprints')).status).toBe(422);
    expect((await member.get(`/api/sprints?team_id=${team.team_id}&status=open`)).status).toBe(422);
  });

  it.each([
    ['an end before the start', { start_date: '2026-11-20', end_date: '2026-11-09' }, 400],
    ['a malformed date', { end_date: 'tomorrow' }, 400],
    ['auto_complete without an end', { auto_complete: true }, 400],
    ['no name', { name: ' ' }, 422],
    ['a long goal', { goal: 'x'.repeat(2001) }, 422],
  ])('rejects %s', async (_what, fields, status) => {
    expect((await member.post('/api/sprints', { name: 'Cycle', team_id: team.team_id, ...fields })).status).toBe(status);
    const { cycle_id } = await createCycle(member, { team_id: team.team_id });
    expect((await member.patch(`/api/sprints/${cycle_id}`, fields)).status).toBe(status);
  });

  it('needs a team or a project, and both must match', async () => {
    expect((await member.post('/api/sprints', { name: 'Cycle' })).status).toBe(422);
    const other = await buildTeam(app);
    await app.services.db('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
    const answer = await member.post('/api/sprints', { name: 'Cycle', team_id: other.team_id, ...project });
    expect(answer.status).toBe(400);
  });

  it('changes fields, ignores status, and keeps the place and the dates of a completed cycle', async () => {
    const { cycle_id } = await createCycle(member, { team_id: team.team_id, goal: 'Ship it', end_date: '2026-11-20' });
    const path = `/api/sprints/${cycle_id}`;
    const { body } = await member.patch(path, { name: 'B', goal: null, end_date: '2026-11-27', status: 'completed' });
    expect(body).toMatchObject({ name: 'B', goal: null, end_date: '2026-11-27', status: 'planned' });
    expect((await member.patch(path, project)).status).toBe(400);
    expect((await member.patch(path, { end_date: null })).body.end_date).toBeNull();
    await start(cycle_id);
    await complete(cycle_id);
    expect((await member.patch(path, { end_date: '2026-12-01' })).status).toBe(409);
    expect((await member.patch(path, { name: 'C' })).body.name).toBe('C');
    const [entry] = await app.services.db('audit_entries').where({ entity_id: cycle_id, action: 'update' }).orderBy('timestamp');
    expect([entry.feature, JSON.parse(entry.details).changes.end_date]).toEqual([
      'cycles',
      { from: '2026-11-20', to: '2026-11-27' },
    ]);
  });

  it('lets nobody who acts for another schedule a completion, also by another end date', async () => {
    const root = await buildAccount(app, { role: 'admin' });
    const { token } = (await app.as().post('/api/auth/login', { email: root.email, password: PASSWORD })).body;
    const target = { user_id: team.member.user_id, reason: 'Ticket 4711: cannot see it' };
    const acting = app.as((await app.as(token).post('/api/admin/impersonate', target)).body.token);
    const { cycle_id } = await createCycle(member, { team_id: team.team_id, end_date: '2026-11-20' });
    const path = `/api/sprints/${cycle_id}`;
    expect((await acting.patch(path, { end_date: '2026-11-21' })).status).toBe(200);
    expect((await acting.patch(path, { auto_complete: true })).status).toBe(403);
    await member.patch(path, { auto_complete: true });
    expect((await acting.patch(path, { end_date: '2026-11-22' })).status).toBe(403);
    expect((await acting.patch(path, { name: 'Theirs' })).body).toMatchObject({ name: 'Theirs', end_date: '2026-11-21' });
    expect((await acting.patch(path, { auto_complete: false })).status).toBe(200);
  });

  it('deletes planned cycles only; their tasks go to the backlog', async () => {
    const { cycle_id } = await createCycle(member, project);
    const { task_id } = await buildTask(app, team, project);
    await add(cycle_id, [task_id]);
    expect((await member.delete(`/api/sprints/${cycle_id}`)).body).toEqual({ success: true, cycle_id });
    expect(await toCycle(task_id)).toBeNull();
    expect((await member.get(`/api/sprints/${cycle_id}`)).status).toBe(404);
    const active = await createCycle(member, project);
    await start(active.cycle_id);
    expect((await member.delete(`/api/sprints/${active.cycle_id}`)).status).toBe(409);
  });

  it('hides the cycles of a project in the trash, and shows them after a restore; a purge deletes them', async () => {
    const { cycle_id } = await createCycle(member, project);
    const { task_id } = await buildTask(app, team, project);
    await add(cycle_id, [task_id]);
    await member.delete(`/api/projects/${project.project_id}`);
    expect((await member.get(`/api/sprints/${cycle_id}`)).status).toBe(404);
    expect((await member.get(`/api/sprints?team_id=${team.team_id}`)).body).toEqual([]);
    expect((await member.get(`/api/tasks?cycle_id=${cycle_id}`)).status).toBe(404);
    await member.post(`/api/trash/project/${project.project_id}/restore`);
    expect((await member.get(`/api/sprints/${cycle_id}`)).body.task_count).toBe(1);
    await member.delete(`/api/projects/${project.project_id}`);
    expect((await app.as(team.manager).delete(`/api/trash/project/${project.project_id}`)).status).toBe(200);
    expect(await app.services.db('cycles').where({ cycle_id })).toEqual([]);
  });

  it('goes with its team', async () => {
    const { cycle_id } = await createCycle(member, { team_id: team.team_id });
    await member.delete(`/api/projects/${project.project_id}`);
    expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
    expect(await app.services.db('cycles').where({ cycle_id })).toEqual([]);
  });
});

describe('tasks of a cycle', () => {
  it('moves a task from one cycle to another, with versions, audit entries and events', async () => {
    const [first, second] = [await createCycle(member, project), await createCycle(member, { team_id: team.team_id })];
    const { task_id } = await buildTask(app, team, project);
    expect((await add(first.cycle_id, [task_id, task_id])).body.task_count).toBe(1);
    await add(first.cycle_id, [task_id]);
    expect((await add(second.cycle_id, [task_id])).body.task_count).toBe(1);
    expect((await member.get(`/api/tasks/${task_id}`)).body).toMatchObject({ cycle_id: second.cycle_id, version: 3 });
    const entries = (await listChanges(task_id)).map(({ details }) => JSON.parse(details as string));
    expect(entries.map(({ changes, version }) => [changes.cycle_id.to, version])).toEqual([
      [first.cycle_id, 2],
      [second.cycle_id, 3],
    ]);
    const [event] = await events('task.updated');
    expect(event.payload).toMatchObject({
      task: { task_id, cycle_id: first.cycle_id },
      changes: { cycle_id: { from: null, to: first.cycle_id } },
    });
    expect((await member.delete(`/api/sprints/${first.cycle_id}/tasks/${task_id}`)).status).toBe(404);
    const removed = await member.delete(`/api/sprints/${second.cycle_id}/tasks/${task_id}`);
    expect([removed.body, await toCycle(task_id)]).toEqual([{ success: true, task_id }, null]);
  });

  it('adds all or none', async () => {
    const cycle = await createCycle(member, project);
    const [mine, elsewhere] = [await buildTask(app, team, project), await buildTask(app, team, await buildProject(app, team))];
    expect((await add(cycle.cycle_id, [mine.task_id, UNKNOWN])).status).toBe(404);
    expect((await add(cycle.cycle_id, [mine.task_id, elsewhere.task_id])).status).toBe(400);
    expect((await add(cycle.cycle_id, [])).status).toBe(422);
    expect(
      (
        await add(
          cycle.cycle_id,
          Array.from({ length: 101 }, () => mine.task_id),
        )
      ).status,
    ).toBe(422);
    expect(await toCycle(mine.task_id)).toBeNull();
    await member.delete(`/api/tasks/${mine.task_id}`);
    expect((await add(cycle.cycle_id, [mine.task_id])).status).toBe(404);
  });

  it('lists the tasks of a cycle, also by project and status, with an ETag', async () => {
    const other = await buildProject(app, team);
    const cycle = await createCycle(member, { team_id: team.team_id });
    const [a, b] = [await buildTask(app, team, project), await buildTask(app, team, other, { status: 'done' })];
    await buildTask(app, team, project);
    await add(cycle.cycle_id, [a.task_id, b.task_id]);
    const path = `/api/tasks?cycle_id=${cycle.cycle_id}`;
    const ids = async (more = '') =>
      ((await member.get(path + more)).body as { task_id: string }[]).map(({ task_id }) => task_id);
    expect(await ids()).toEqual([a.task_id, b.task_id]);
    expect(await ids('&status=done')).toEqual([b.task_id]);
    expect(await ids(`&project_id=${project.project_id}`)).toEqual([a.task_id]);
    const etag = (await member.get(path)).headers.get('etag') as string;
    expect((await member.get(path, undefined, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    await member.delete(`/api/sprints/${cycle.cycle_id}/tasks/${a.task_id}`);
    expect((await member.get(path, undefined, { headers: { 'If-None-Match': etag } })).body).toHaveLength(1);
  });

  it('leaves the cycle of its project with a move to another one, subtasks too', async () => {
    const cycle = await createCycle(member, project);
    const parent = await buildTask(app, team, project);
    const child = await buildTask(app, team, project, { parent_task_id: parent.task_id });
    await add(cycle.cycle_id, [parent.task_id, child.task_id]);
    const other = await buildProject(app, team);
    await member.patch(`/api/tasks/${parent.task_id}`, other);
    expect([await toCycle(parent.task_id), await toCycle(child.task_id)]).toEqual([null, null]);
    for (const { task_id } of [parent, child]) {
      const { details } = (await listChanges(task_id)).at(-1) as { details: string };
      expect(JSON.parse(details).changes).toMatchObject({ cycle_id: { from: cycle.cycle_id, to: null }, project_id: {} });
    }
    const stays = await app.services.db('cycle_tasks').where({ cycle_id: cycle.cycle_id }).whereNull('removed_at');
    expect(stays).toEqual([]);
  });
});

describe('start, completion and report', () => {
  it('commits to the leaves of the start, freezes the figures, and moves open leaves only', async () => {
    const cycle = await createCycle(member, project);
    const next = await createCycle(member, project);
    const hours = { estimated_hours: 2 };
    const [parent = '', done = '', open = '', late = ''] = await insertTasks(app, team, project, [
      {},
      hours,
      hours,
      { ...hours, estimated_hours: 3 },
    ]);
    const [child = ''] = await insertTasks(app, team, project, [{ parent_task_id: parent, estimated_hours: 8 }]);
    await add(cycle.cycle_id, [parent, done, open, child]);
    expect(await report(cycle.cycle_id)).toMatchObject({ committed: 0, days: [], cycle: { status: 'planned' } });
    expect((await start(cycle.cycle_id)).body).toMatchObject({ status: 'active', task_count: 4 });
    await add(cycle.cycle_id, [late]);
    await member.patch(`/api/tasks/${done}/status`, { status: 'done' });
    expect(await report(cycle.cycle_id)).toMatchObject({
      committed: 3,
      added: 1,
      completed: 1,
      carried_over: 0,
      points: { committed: 12, completed: 2 },
      days: [{ date: TODAY(), remaining: 3 }],
    });
    const { status, body } = await complete(cycle.cycle_id, { rollover_to: 'next' });
    const snapshot = {
      committed: 3,
      added: 1,
      completed: 1,
      carried_over: 3,
      points: { committed: 12, completed: 2 },
      days: [{ date: TODAY(), remaining: 3 }],
    };
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ status: 'completed', task_count: 2, done_count: 1, snapshot }),
    ]);
    expect(await Promise.all([parent, done, open, late, child].map(toCycle))).toEqual([
      cycle.cycle_id,
      cycle.cycle_id,
      next.cycle_id,
      next.cycle_id,
      next.cycle_id,
    ]);
    const { cycle: record, ...figures } = await report(cycle.cycle_id);
    expect([record, figures]).toEqual([body, snapshot]);
    expect((await complete(cycle.cycle_id)).status).toBe(409);
    expect((await add(cycle.cycle_id, [open])).status).toBe(409);
    expect((await member.delete(`/api/sprints/${cycle.cycle_id}/tasks/${done}`)).status).toBe(409);
    // What happens later changes nothing of the snapshot.
    await member.patch(`/api/tasks/${done}/status`, { status: 'todo' });
    expect((await report(cycle.cycle_id)).completed).toBe(1);
    const [started, completed] = [await events('cycle.started'), await events('cycle.completed')];
    expect([started[0].payload.cycle.status, completed[0].payload.cycle.snapshot.carried_over]).toEqual(['active', 3]);
    expect(completed[0].payload).toMatchObject({
      actor_id: team.member.user_id,
      changes: { status: { from: 'active', to: 'completed' } },
    });
  });

  it('moves open tasks with subtasks too, if it is asked to, and counts them nowhere', async () => {
    const [cycle, next] = [await createCycle(member, project), await createCycle(member, project)];
    const [parent = '', done = '', open = ''] = await insertTasks(app, team, project, [{}, {}, {}]);
    // One of the subtasks is in no cycle, and the parent of another is done.
    const [child = '', outside = ''] = await insertTasks(app, team, project, [
      { parent_task_id: parent },
      { parent_task_id: parent },
      { parent_task_id: done },
    ]);
    await add(cycle.cycle_id, [parent, done, open, child]);
    await start(cycle.cycle_id);
    await member.patch(`/api/tasks/${done}/status`, { status: 'done' });
    const { body } = await complete(cycle.cycle_id, { rollover_to: 'next', include_parents: true });
    expect(body.snapshot).toMatchObject({ committed: 2, added: 0, completed: 0, carried_over: 2 });
    expect(await Promise.all([parent, done, open, child, outside].map(toCycle))).toEqual([
      next.cycle_id,
      cycle.cycle_id,
      next.cycle_id,
      next.cycle_id,
      null,
    ]);
    expect(await report(cycle.cycle_id)).toMatchObject(body.snapshot);
    expect((await complete(next.cycle_id, { include_parents: 'yes' })).status).toBe(422);
  });

  it('checks the target of the open tasks', async () => {
    const cycle = await createCycle(member, project);
    expect((await complete(cycle.cycle_id)).status).toBe(409);
    await start(cycle.cycle_id);
    const elsewhere = await createCycle(member, { team_id: team.team_id });
    expect((await complete(cycle.cycle_id, { rollover_to: 'next' })).status).toBe(409);
    expect((await complete(cycle.cycle_id, { rollover_to: cycle.cycle_id })).status).toBe(400);
    expect((await complete(cycle.cycle_id, { rollover_to: elsewhere.cycle_id })).status).toBe(400);
    expect((await complete(cycle.cycle_id, { rollover_to: UNKNOWN })).status).toBe(404);
    expect((await complete(cycle.cycle_id, { rollover_to: 'somewhere' })).status).toBe(404);
    expect((await complete(cycle.cycle_id, { rollover_to: 7 })).status).toBe(422);
    expect((await complete(cycle.cycle_id, {})).body.snapshot).toMatchObject({ committed: 0, carried_over: 0 });
    const target = await createCycle(member, project);
    await start(target.cycle_id);
    expect((await complete(target.cycle_id, { rollover_to: cycle.cycle_id })).status).toBe(400);
  });

  it('takes the planned cycle that begins first as the next one', async () => {
    const cycle = await createCycle(member, project);
    await createCycle(member, project);
    await createCycle(member, { ...project, start_date: '2026-12-07' });
    const next = await createCycle(member, { ...project, start_date: '2026-11-30' });
    const [open = ''] = await insertTasks(app, team, project, [{}]);
    await add(cycle.cycle_id, [open]);
    await start(cycle.cycle_id);
    await complete(cycle.cycle_id, { rollover_to: 'next' });
    expect(await toCycle(open)).toBe(next.cycle_id);
  });

  it('allows one active cycle of each team and project', async () => {
    const [a, b] = [await createCycle(member, project), await createCycle(member, project)];
    await start(a.cycle_id);
    expect((await start(b.cycle_id)).status).toBe(409);
    expect((await start(a.cycle_id)).status).toBe(409);
    expect((await start((await createCycle(member, { team_id: team.team_id })).cycle_id)).status).toBe(200);
    await complete(a.cycle_id);
    expect((await start(b.cycle_id)).status).toBe(200);
  });

  it('leaves tasks in the trash out: restored ones are in the backlog', async () => {
    const cycle = await createCycle(member, project);
    const [trashed = '', kept = ''] = await insertTasks(app, team, project, [{}, {}]);
    await add(cycle.cycle_id, [trashed, kept]);
    await start(cycle.cycle_id);
    await member.delete(`/api/tasks/${trashed}`);
    const { snapshot } = (await complete(cycle.cycle_id)).body;
    expect(snapshot).toMatchObject({ committed: 2, completed: 0, carried_over: 1 });
    await member.post(`/api/trash/task/${trashed}/restore`);
    expect(await toCycle(trashed)).toBeNull();
  });

  it('burns down day by day: added, removed, done and reopened tasks', async () => {
    const cycle = await createCycle(member, project);
    const ids = await insertTasks(app, team, project, [{}, {}, {}, {}]);
    await add(cycle.cycle_id, ids);
    await start(cycle.cycle_id);
    const { db } = app.services;
    const ago = (days: number) =>
      db.raw(`date_trunc('day', now() at time zone 'utc') at time zone 'utc' - interval '${days} days' + interval '12 hours'`);
    await db('cycles')
      .where({ cycle_id: cycle.cycle_id })
      .update({ started_at: ago(4) });
    const stay = (at: number) => db('cycle_tasks').where({ cycle_id: cycle.cycle_id, task_id: ids[at] as string });
    await stay(0).update({ added_at: ago(10) });
    await stay(1).update({ added_at: ago(4) });
    await stay(2).update({ added_at: ago(3) });
    await stay(3).update({ added_at: ago(4), removed_at: ago(2) });
    await db('tasks')
      .where({ task_id: ids[0] as string })
      .update({ status: 'done', completed_at: ago(1) });
    const remaining = async () => (await report(cycle.cycle_id)).days.map(({ remaining }: { remaining: number }) => remaining);
    expect(await remaining()).toEqual([3, 4, 3, 2, 2]);
    await member.patch(`/api/tasks/${ids[0]}/status`, { status: 'todo' });
    expect(await remaining()).toEqual([3, 4, 3, 3, 3]);
  });

  it('burns down from its first day where it was started later, and from its start where that was before', async () => {
    const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const late = await createCycle(member, { ...project, start_date: dayIn(-4), end_date: dayIn(4) });
    const ids = await insertTasks(app, team, project, [{}, {}, {}]);
    await add(late.cycle_id, ids.slice(0, 2));
    await start(late.cycle_id);
    await add(late.cycle_id, ids.slice(2));
    await app.services
      .db('tasks')
      .where({ task_id: ids[0] as string })
      .update({ status: 'done', completed_at: `${dayIn(-2)}T12:00:00Z` });
    const daysOf = async (id: string) =>
      (await report(id)).days.map(({ date, remaining }: { date: string; remaining: number }) => [date, remaining]);
    expect(await daysOf(late.cycle_id)).toEqual([
      [dayIn(-4), 2],
      [dayIn(-3), 2],
      [dayIn(-2), 1],
      [dayIn(-1), 1],
      [dayIn(0), 2],
    ]);
    const other = await buildProject(app, team);
    const early = await createCycle(member, { ...other, start_date: dayIn(3), end_date: dayIn(9) });
    await start(early.cycle_id);
    expect(await daysOf(early.cycle_id)).toEqual([[dayIn(0), 0]]);
  });
});

it('moves thousands of tasks, and counts those of a cycle, without reading those of other teams', async () => {
  const stranger = await buildTeam(app);
  const elsewhere = await buildProject(app, stranger);
  const [parent] = await insertTasks(app, stranger, elsewhere, [{}]);
  await insertTasks(
    app,
    stranger,
    elsewhere,
    Array.from({ length: 4_000 }, (_, n) => ({ parent_task_id: n % 2 === 0 ? parent : null })),
  );
  const { db } = app.services;
  const { cycle_id } = await createCycle(member, project);
  const count = 600;
  const own = await insertTasks(
    app,
    team,
    project,
    Array.from({ length: count }, () => ({ cycle_id })),
  );
  await db.batchInsert(
    'cycle_tasks',
    own.map((task_id) => ({ cycle_id, task_id })),
  );
  const ids = Array.from({ length: 2_000 }, () => uuidv7());
  const moved = ['{}', ids, cycle_id, team.team_id, null, false, team.member.user_id];
  const read = (statement: Statement, values: unknown[]) => rowsRead(db, 'tasks', (trx) => run(trx, statement, values));
  // What PostgreSQL does not know yet of the tasks decides no more than what it knows.
  for (const sql of ['select', 'analyze tasks, cycle_tasks']) {
    await db.raw(sql);
    const reads = {
      moved: await read(moveTasksStatement, moved),
      figures: await read(figuresStatement, [cycle_id, false]),
      committed: await read(commitTasksStatement, [cycle_id]),
      closed: await read(closeStaysStatement, [cycle_id, true]),
    };
    // Some statements read each task of the cycle twice.
    for (const [name, rows] of Object.entries(reads)) expect([sql, name, rows <= 2 * count + 10]).toEqual([sql, name, true]);
  }
});

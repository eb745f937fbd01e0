import { buildProject, buildTeam } from '../../../factories/people.js';
import { taskWorld } from './world.js';

const world = taskWorld();

type Fields = Record<string, unknown>;
const patch = (taskId: string, fields: Fields, headers: Record<string, string> = {}) =>
  world.member.patch(`/api/tasks/${taskId}`, fields, { headers });
const trash = (taskId: string) => world.member.delete(`/api/tasks/${taskId}`);

/** A chain of tasks, each below the one before; returns their ids, the top first. */
async function chain(length: number, parent?: string): Promise<string[]> {
  const ids: string[] = [];
  for (let level = 0; level < length; level += 1) {
    const above = ids.at(-1) ?? parent;
    ids.push((await world.make(above ? { parent_task_id: above } : {})).task_id);
  }
  return ids;
}

describe.each(['patch', 'put'] as const)('%s /api/tasks/:task_id', (method) => {
  const update = (taskId: string, fields: Fields) => world.member[method](`/api/tasks/${taskId}`, fields);

  it('200 changes the fields present, raises the version and tells what changed', async () => {
    const task = await world.make({ description: 'kept' });
    const answer = await update(task.task_id, {
      title: ' New ',
      status: 'In-Progress',
      priority: 'URGENT',
      tags: ['a', 'a '],
      version: 1,
    });
    expect(answer).toMatchObject({ status: 200, body: { message: 'Task updated' } });
    expect(answer.headers.get('etag')).toBe('"2"');
    expect(await world.read(task.task_id)).toMatchObject({
      title: 'New',
      description: 'kept',
      status: 'in_progress',
      priority: 'urgent',
      tags: ['a'],
      version: 2,
    });
    const { audit, activity, events } = await world.traces(task.task_id);
    expect(JSON.parse(audit[1]?.['details'] as string)).toMatchObject({
      changes: { title: { from: task.title, to: 'New' }, status: { from: 'todo', to: 'in_progress' } },
      version: 2,
    });
    expect(activity).toHaveLength(2);
    expect(events[1]).toMatchObject({
      subject: 'task.updated',
      payload: { changes: { priority: { from: 'medium', to: 'urgent' } } },
    });
  });

  it('null clears what may be empty', async () => {
    const task = await world.make({
      description: 'x',
      assigned_to: world.team.member.user_id,
      due_date: '2026-12-01',
      tags: ['a'],
      estimated_hours: 3,
      estimate: 8,
      parent_task_id: (await world.make()).task_id,
    });
    await update(task.task_id, { position: 4, actual_hours: 2.5, is_archived: true });
    expect(await world.read(task.task_id)).toMatchObject({ position: 4, actual_hours: 2.5, is_archived: true });
    const nothing = {
      description: null,
      assigned_to: null,
      due_date: null,
      estimated_hours: null,
      estimate: null,
      parent_task_id: null,
      position: null,
    };
    expect((await update(task.task_id, { ...nothing, tags: null, version: null })).status).toBe(200);
    expect(await world.read(task.task_id)).toMatchObject({ ...nothing, tags: [], version: 3 });
  });

  it.each(['title', 'status', 'priority', 'project_id'])('422 refuses null for %s', async (field) => {
    const task = await world.make();
    const answer = await update(task.task_id, { [field]: null });
    expect(answer.status).toBe(422);
    expect(answer.body.detail.errors).toEqual([expect.objectContaining({ field: `body.${field}` })]);
    expect((await world.row(task.task_id))['version']).toBe(1);
  });

  it('ignores what is not a client’s to write', async () => {
    const task = await world.make();
    const before = await world.row(task.task_id);
    const foreign = await buildTeam(world.app);
    const wish = {
      task_id: 'mine',
      team_id: foreign.team_id,
      created_by: foreign.admin.user_id,
      created_at: '2020-01-01',
      updated_at: '2020-01-01',
      completed_at: '2020-01-01',
      deleted_at: '2020-01-01',
      forge_links: [{ repo: 'x' }],
      cascade_id: foreign.team_id,
    };
    expect((await update(task.task_id, wish)).headers.get('etag')).toBe('"1"');
    expect(await world.row(task.task_id)).toEqual(before);
  });

  it('keeps the version when nothing changes, whatever is said', async () => {
    const parent = await world.make();
    const task = await world.make({ parent_task_id: parent.task_id, tags: ['a'] });
    const same = {
      title: task.title,
      tags: ['a'],
      parent_task_id: parent.task_id,
      project_id: world.project.project_id,
      status: 'todo',
    };
    const answer = await update(task.task_id, same);
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"1"']);
    expect((await world.traces(task.task_id)).audit).toHaveLength(1);
  });
});

describe('expected versions', () => {
  it('409 says what changed since, by whom and when, and leaves no trace', async () => {
    const task = await world.make();
    await patch(task.task_id, { title: 'Second' });
    await patch(task.task_id, { status: 'done', title: 'Third' });
    await world.app.as(world.team.manager).patch(`/api/tasks/${task.task_id}`, { priority: 'low' });
    const { audit } = await world.traces(task.task_id);
    const answer = await patch(task.task_id, { title: 'Late', version: 1 });
    expect(answer).toMatchObject({
      status: 409,
      body: {
        error_code: 'RESOURCE_CONFLICT',
        message: 'The task is at version 4, not 1',
        changed_since: {
          version: 4,
          fields: ['completed_at', 'priority', 'status', 'title'],
          by: world.team.manager.user_id,
          at: `${String(audit.at(-1)?.['timestamp']).slice(0, 23)}Z`,
        },
      },
    });
    expect(answer.body.detail).toMatch(/^Since version 1 completed_at, priority, status, title changed, last by p\w+ at \d{4}-/);
    expect((await patch(task.task_id, { title: 'Late', version: 3 })).body.changed_since.fields).toEqual(['priority']);
    expect((await world.traces(task.task_id)).audit).toHaveLength(4);
  });

  it('409 for a version that is still to come knows of no change', async () => {
    const task = await world.make();
    const answer = await patch(task.task_id, { title: 'Early', version: 2_147_483_647 });
    expect(answer).toMatchObject({ status: 409, body: { changed_since: { version: 1, fields: [], by: null, at: null } } });
  });

  it('409 counts no change before the version that the writer had, also where the trash has raised it', async () => {
    const task = await world.make();
    await patch(task.task_id, { title: 'Second' });
    await trash(task.task_id);
    await world.member.post(`/api/trash/task/${task.task_id}/restore`);
    const answer = await patch(task.task_id, { title: 'Late', version: 2 });
    expect(answer).toMatchObject({ status: 409, body: { changed_since: { version: 4, fields: [], by: null, at: null } } });
  });

  it('a stale version is 409 before anything else: no change, a bad parent, a foreign project', async () => {
    const task = await world.make();
    const foreign = await buildProject(world.app, await buildTeam(world.app));
    await patch(task.task_id, { title: 'Second' });
    for (const fields of [{}, { title: 'Second' }, { parent_task_id: 'nobody' }, foreign, { assigned_to: 'nobody' }]) {
      expect((await patch(task.task_id, { ...fields, version: 1 })).status).toBe(409);
    }
    expect((await world.member.patch(`/api/tasks/${task.task_id}/status`, { status: 'todo', version: 1 })).status).toBe(409);
  });

  it.each([
    ['"1"', undefined, 200],
    ['W/"1"', undefined, 200],
    ['"1-AbC_9"', undefined, 200],
    ['*', undefined, 200],
    ['*', 1, 200],
    ['*', 7, 409],
    ['"1"', 1, 200],
    ['"7"', undefined, 409],
    ['W/"7-x"', undefined, 409],
    ['"7"', 7, 409],
    ['"7"', 1, 400],
    ['"1"', 7, 400],
    ['1', undefined, 400],
    ['"one"', undefined, 400],
    ['"1", "2"', undefined, 400],
    ['"99999999999"', undefined, 400],
  ])('If-Match %s with version %s is %s', async (tag, version, status) => {
    for (const path of ['', '/status']) {
      const task = await world.make();
      const fields = { status: 'in_review', ...(version === undefined ? {} : { version }) };
      const answer = await world.member.patch(`/api/tasks/${task.task_id}${path}`, fields, { headers: { 'if-match': tag } });
      expect(answer.status).toBe(status);
      expect((await world.row(task.task_id))['version']).toBe(status === 200 ? 2 : 1);
    }
  });
});

describe('another parent', () => {
  it('200 nests and lifts out, with version, audit and event', async () => {
    const [parent, task] = [await world.make(), await world.make()];
    expect((await patch(task.task_id, { parent_task_id: parent.task_id })).headers.get('etag')).toBe('"2"');
    expect(await world.read(parent.task_id)).toMatchObject({ version: 1, subtasks: [{ task_id: task.task_id, version: 2 }] });
    expect((await patch(task.task_id, { parent_task_id: null, title: 'Out' })).status).toBe(200);
    expect(await world.read(parent.task_id)).toMatchObject({ subtasks: [] });
    const { events } = await world.traces(task.task_id);
    expect(events.map((event) => (event['payload'] as { changes: unknown }).changes)).toMatchObject([
      {},
      { parent_task_id: { from: null, to: parent.task_id } },
      { parent_task_id: { from: parent.task_id, to: null }, title: { to: 'Out' } },
    ]);
  });

  it('400 refuses itself, a descendant and another project; 404 one in the trash and nobody', async () => {
    const [top, middle, bottom] = (await chain(3)) as [string, string, string];
    const elsewhere = await buildProject(world.app, world.team);
    const other = await world.make({ project_id: elsewhere.project_id });
    const gone = await world.make();
    await trash(gone.task_id);
    const refused = async (parents: string[], status: number) => {
      for (const parent of parents) {
        const answer = await patch(top, { parent_task_id: parent, title: 'Never' });
        expect([parent, answer.status]).toEqual([parent, status]);
      }
    };
    await refused([top, middle, bottom, other.task_id], 400);
    await refused([gone.task_id, 'nobody', `{${top.toUpperCase()}}`], 404);
    expect(await world.row(top)).toMatchObject({ version: 1, parent_task_id: null });
  });

  it('400 past 20 levels, counting what hangs below, also in the trash; 200 at 20', async () => {
    const deep = await chain(17);
    const branch = await chain(3);
    expect((await patch(branch[0] as string, { parent_task_id: deep[16] })).status).toBe(200);
    await patch(branch[0] as string, { parent_task_id: null });
    const twig = await world.make({ parent_task_id: branch[2] });
    expect((await patch(branch[0] as string, { parent_task_id: deep[16] })).status).toBe(400);
    expect((await patch(branch[0] as string, { parent_task_id: deep[15] })).status).toBe(200);
    await patch(branch[0] as string, { parent_task_id: null });
    await trash(twig.task_id);
    expect((await patch(branch[0] as string, { parent_task_id: deep[16] })).status).toBe(400);
    expect((await world.member.post('/api/tasks', { title: 'x', ...world.project, parent_task_id: deep[16] })).status).toBe(201);
    await chain(3, deep[16]);
    const answer = await world.member.post('/api/tasks', {
      title: 'x',
      ...world.project,
      parent_task_id: (await chain(3, deep[16]))[2],
    });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'INVALID_REQUEST' } });
  });
});

describe('another project', () => {
  const resolveTarget = () => buildProject(world.app, world.team, { name: 'Hermes' });

  it('200 takes the whole subtree along, each task with its trace, and leaves the parent behind', async () => {
    const target = await resolveTarget();
    const [parent, task, child, grandchild] = (await chain(4)) as [string, string, string, string];
    const gone = (await world.make({ parent_task_id: child })).task_id;
    await trash(gone);
    const answer = await patch(task, { project_id: target.project_id, title: 'Moved' });
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, '"2"']);
    expect(await world.row(task)).toMatchObject({ ...target, parent_task_id: null, title: 'Moved', version: 2 });
    for (const id of [child, grandchild]) expect(await world.row(id)).toMatchObject({ ...target, version: 2 });
    expect(await world.row(gone)).toMatchObject({ ...target, version: 3, parent_task_id: child });
    expect(await world.read(parent)).toMatchObject({ ...world.project, subtasks: [], version: 1 });
    expect(await world.read(task)).toMatchObject({ subtasks: [{ task_id: child, subtasks: [{ task_id: grandchild }] }] });

    const request = answer.headers.get('x-correlation-id');
    expect((await world.traces(task)).audit[1]).toMatchObject({ audit_id: request, correlation_id: request, action: 'update' });
    for (const [id, live] of [
      [child, true],
      [grandchild, true],
      [gone, false],
    ] as const) {
      const { audit, activity, events } = await world.traces(id);
      const last = audit.at(-1);
      expect(last).toMatchObject({ action: 'update', correlation_id: request });
      expect(JSON.parse(last?.['details'] as string).changes).toEqual({
        project_id: { from: world.project.project_id, to: target.project_id },
      });
      expect(events.at(-1)?.['subject']).toBe(live ? 'task.updated' : 'task.deleted');
      if (live) expect(activity.at(-1)).toMatchObject({ ...target, summary: 'changed project_id' });
    }
    await world.member.post(`/api/trash/task/${gone}/restore`);
    expect(await world.read(child)).toMatchObject({ subtasks: [{ task_id: grandchild }, { task_id: gone }] });
  });

  it('200 puts the task below a parent over there', async () => {
    const target = await resolveTarget();
    const parent = await world.make({ project_id: target.project_id });
    const task = await world.make({ parent_task_id: (await world.make()).task_id });
    expect((await patch(task.task_id, { project_id: target.project_id, parent_task_id: parent.task_id })).status).toBe(200);
    expect(await world.read(parent.task_id)).toMatchObject({ subtasks: [{ task_id: task.task_id }] });
  });

  it('400 for a parent that stays behind by name, or that is moving along', async () => {
    const target = await resolveTarget();
    const [parent, task, child] = (await chain(3)) as [string, string, string];
    for (const parent_task_id of [parent, child, task])
      expect((await patch(task, { project_id: target.project_id, parent_task_id })).status).toBe(400);
    expect(await world.row(task)).toMatchObject({ ...world.project, version: 1 });
  });

  it('400 of another team, 403 unreadable, 404 unknown or in the trash, and writes nothing', async () => {
    const task = await world.make();
    const foreign = await buildTeam(world.app);
    const theirs = await buildProject(world.app, foreign);
    const gone = await resolveTarget();
    await world.member.delete(`/api/projects/${gone.project_id}`);
    const move = (project_id: string) => patch(task.task_id, { project_id, title: 'Never' });
    expect((await move(theirs.project_id)).status).toBe(403);
    await world.app.services
      .db('memberships')
      .insert({ team_id: foreign.team_id, user_id: world.team.member.user_id, role: 'guest' });
    expect((await move(theirs.project_id)).status).toBe(400);
    expect((await move(gone.project_id)).status).toBe(404);
    expect((await move('garbage')).status).toBe(404);
    expect(await world.row(task.task_id)).toMatchObject({ ...world.project, version: 1 });
  });

  it('a guest may not move, and a refused assignee undoes the move', async () => {
    const target = await resolveTarget();
    const task = await world.make();
    const child = await world.make({ parent_task_id: task.task_id });
    expect((await world.app.as(world.team.guest).patch(`/api/tasks/${task.task_id}`, target)).status).toBe(403);
    expect((await patch(task.task_id, { ...target, assigned_to: 'nobody' })).status).toBe(400);
    for (const id of [task.task_id, child.task_id]) expect(await world.row(id)).toMatchObject({ ...world.project, version: 1 });
  });
});

describe('/api/tasks/:task_id/status', () => {
  it.each(['patch', 'put'] as const)('%s takes the four exact values, sets and clears completed_at', async (method) => {
    const task = await world.make();
    const set = (status: unknown) => world.member[method](`/api/tasks/${task.task_id}/status`, { status });
    for (const wrong of ['in-progress', 'Done', ' done', 'later', '', null, 1, ['done']])
      expect((await set(wrong)).status).toBe(422);
    for (const status of ['in_progress', 'in_review', 'todo']) {
      expect(await set(status)).toMatchObject({ status: 200, body: { message: 'Task updated' } });
      expect(await world.read(task.task_id)).toMatchObject({ status, completed_at: null });
    }
    await set('done');
    const { completed_at, version } = await world.read(task.task_id);
    expect(completed_at).not.toBeNull();
    expect((await set('done')).headers.get('etag')).toBe(`"${String(version)}"`);
    expect(await world.read(task.task_id)).toMatchObject({ completed_at, version });
    await patch(task.task_id, { title: 'Still done' });
    expect(await world.read(task.task_id)).toMatchObject({ completed_at });
    await set('todo');
    expect(await world.read(task.task_id)).toMatchObject({ completed_at: null });
  });

  it('404 and 403 as everywhere', async () => {
    const task = await world.make();
    const body = { status: 'done' };
    expect((await world.app.as(world.team.guest).patch(`/api/tasks/${task.task_id}/status`, body)).status).toBe(403);
    await trash(task.task_id);
    expect((await world.member.patch(`/api/tasks/${task.task_id}/status`, body)).status).toBe(404);
  });
});

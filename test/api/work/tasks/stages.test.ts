import { buildProject, buildTask, buildTeam } from '../../../factories/people.js';
import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { plantTasks, ROUNDS, taskWorld } from './world.js';

// A team names steps within the four statuses. A task in a stage has its status, whoever writes it.

const world = taskWorld(60_000);
const manager = () => world.app.as(world.team.manager);
const define = async (name: string, status = 'in_review', more: object = {}): Promise<string> => {
  const { body } = await manager().post('/api/stages', { team_id: world.team.team_id, name, status, ...more });
  return body.stage_id as string;
};
const patch = (taskId: string, fields: Record<string, unknown>) => world.member.patch(`/api/tasks/${taskId}`, fields);
const state = async (taskId: string) => {
  const { status, resolution, stage_id } = await world.read(taskId);
  return [status, resolution, stage_id];
};
const list = async () => {
  const { body } = await world.app.as(world.team.guest).get(`/api/stages?team_id=${world.team.team_id}`);
  return body.map(({ name, position }: { name: string; position: number }) => `${name} ${position}`);
};
const refusal = { status: 422, body: { detail: { errors: [{ field: 'body.stage_id' }] } } };
const refusedFor = (message: string) => ({ status: 422, body: { detail: { errors: [{ field: 'body.stage_id', message }] } } });
const isSound = async () => {
  const verdicts = await checkInvariants({ services: world.app.services });
  expect(verdicts.filter(({ name, violations }) => name !== 'outbox_empty' && violations.length > 0)).toEqual([]);
};

it('defines stages in their order: of To do before it, of others behind them', async () => {
  await define('In QA');
  await define('Ready to deploy');
  await define('Backlog', 'todo');
  await define('Triage', 'todo');
  const blocked = await define('Blocked', 'in_progress', { position: -5 });
  expect(await list()).toEqual(['Triage -2', 'Backlog -1', 'Blocked -5', 'In QA 1', 'Ready to deploy 2']);
  const early = await define('Code review', 'in_review', { position: 1 });
  expect(await list()).toEqual(['Triage -2', 'Backlog -1', 'Blocked -5', 'Code review 1', 'In QA 2', 'Ready to deploy 3']);
  const moved = await manager().patch(`/api/stages/${early}`, { position: 3, name: 'Second look' });
  expect(moved.body).toEqual({
    stage_id: early,
    team_id: world.team.team_id,
    name: 'Second look',
    status: 'in_review',
    position: 3,
  });
  expect(await list()).toEqual(['Triage -2', 'Backlog -1', 'Blocked -5', 'In QA 2', 'Second look 3', 'Ready to deploy 4']);
  expect((await manager().patch(`/api/stages/${blocked}`, { status: 'done' })).status).toBe(400);
  const audited = await world.app.services.db('audit_entries').where({ entity_id: early }).orderBy('timestamp');
  expect(audited).toMatchObject([
    { feature: 'tasks', action: 'create', entity_type: 'stage' },
    { action: 'update', details: expect.stringContaining('Code review') },
  ]);
});

it('refuses a taken name, that of a status, a bad position, and a stage too many', async () => {
  const create = (fields: object) =>
    manager().post('/api/stages', { team_id: world.team.team_id, name: 'x', status: 'todo', ...fields });
  const id = await define('In QA');
  expect((await create({ name: 'IN qa' })).status).toBe(409);
  expect((await manager().patch(`/api/stages/${id}`, { name: 'in qa' })).body).toMatchObject({ name: 'in qa' });
  for (const name of ['To do', 'todo', 'in-progress', 'Canceled', '', 'x'.repeat(41)]) {
    expect(await create({ name })).toMatchObject({ status: 422, body: { detail: { errors: [{ field: 'body.name' }] } } });
  }
  for (const position of [0, 1.5, 1_000_001]) expect((await create({ position })).status).toBe(422);
  expect((await create({ status: 'canceled' })).status).toBe(422);
  for (let nth = 2; nth <= 20; nth += 1) await define(`Stage ${nth}`);
  expect((await create({ name: 'One more' })).status).toBe(400);
  const other = await buildTeam(world.app);
  const theirs = { team_id: other.team_id, name: 'In QA', status: 'in_review' };
  expect((await world.app.as(other.manager).post('/api/stages', theirs)).status).toBe(201);
});

it('sets the status with the stage, in one change, and a status or resolution alone clears the stage', async () => {
  const [qa, released] = [await define('In QA'), await define('Released', 'done')];
  const { task_id } = await world.make();
  await patch(task_id, { stage_id: qa });
  expect(await state(task_id)).toEqual(['in_review', null, qa]);
  const { audit, activity, events } = await world.traces(task_id);
  const changes = { status: { from: 'todo', to: 'in_review' }, stage_id: { from: null, to: qa } };
  expect(audit).toHaveLength(2);
  expect(JSON.parse(audit[1]?.['details'] as string)).toMatchObject({ changes });
  expect(activity[1]).toMatchObject({ summary: 'changed status, stage_id' });
  expect(events[1]).toMatchObject({ payload: { changes, task: { status: 'in_review', stage_id: qa } } });
  // Whoever knows no stages, and sends the status as it is, changes nothing.
  await patch(task_id, { status: 'in_review', title: 'Other' });
  expect(await state(task_id)).toEqual(['in_review', null, qa]);
  await world.member.put(`/api/tasks/${task_id}/status`, { status: 'in_progress' });
  expect(await state(task_id)).toEqual(['in_progress', null, null]);
  await patch(task_id, { stage_id: released });
  expect(await state(task_id)).toEqual(['done', null, released]);
  expect((await world.read(task_id))['completed_at']).toEqual(expect.any(String));
  await patch(task_id, { resolution: 'canceled' });
  expect(await state(task_id)).toEqual(['done', 'canceled', null]);
  await patch(task_id, { stage_id: released, status: 'done' });
  expect(await state(task_id)).toEqual(['done', null, released]);
  await patch(task_id, { stage_id: null });
  expect(await state(task_id)).toEqual(['done', null, null]);
});

it('422 for a stage of another team, an unknown one, one of another status, and one with a resolution', async () => {
  const [qa, released] = [await define('In QA'), await define('Released', 'done')];
  const other = await buildTeam(world.app);
  const theirs = await world.app
    .as(other.manager)
    .post('/api/stages', { team_id: other.team_id, name: 'In QA', status: 'in_review' });
  const { task_id } = await world.make();
  const foreign = await patch(task_id, { stage_id: theirs.body.stage_id });
  expect(foreign).toMatchObject(refusedFor('The team of the task has no such stage'));
  expect((await patch(task_id, { stage_id: '019a9f00-0000-7000-8000-000000000099' })).body.detail).toEqual(foreign.body.detail);
  expect(await patch(task_id, { stage_id: 'nonsense' })).toMatchObject(refusal);
  expect(await patch(task_id, { stage_id: qa, status: 'done' })).toMatchObject(
    refusedFor('The stage “In QA” belongs to the status In review, but this sets Done'),
  );
  const closed = refusedFor('A task that is closed as canceled is in no stage, but this sets “Released”');
  expect(await patch(task_id, { stage_id: released, resolution: 'canceled' })).toMatchObject(closed);
  const create = (fields: object) => world.member.post('/api/tasks', { title: 'x', ...world.project, ...fields });
  expect(await create({ stage_id: theirs.body.stage_id })).toMatchObject(refusedFor('The team of the task has no such stage'));
  expect(await create({ stage_id: qa, status: 'todo' })).toMatchObject(
    refusedFor('The stage “In QA” belongs to the status In review, but this sets To do'),
  );
  expect(await create({ stage_id: released, status: 'done', resolution: 'canceled' })).toMatchObject(closed);
  expect((await create({ stage_id: released })).body.data).toMatchObject({ status: 'done', stage_id: released });
  const bulk = await world.member.post('/api/tasks/bulk', [
    { title: 'a', ...world.project, stage_id: qa },
    { title: 'b', ...world.project, stage_id: theirs.body.stage_id },
  ]);
  expect(bulk.body).toMatchObject({ created: 1, failed: 1, results: [{ data: { status: 'in_review' } }, { data: null }] });
  expect(await world.read(task_id)).toMatchObject({ version: 1 });
});

it('is kept by the database, whatever a process of the version before writes', async () => {
  const tasks = () => world.app.services.db('tasks').where({ task_id });
  const [qa, backlog] = [await define('In QA'), await define('Backlog', 'todo')];
  const { task_id } = await world.make({ stage_id: qa });
  await tasks().update({ status: 'in_review', title: 'Same status' });
  expect(await state(task_id)).toEqual(['in_review', null, qa]);
  await tasks().update({ status: 'todo' });
  expect(await state(task_id)).toEqual(['todo', null, null]);
  await patch(task_id, { stage_id: qa });
  await tasks().update({ status: 'done', resolution: 'duplicate' });
  expect(await state(task_id)).toEqual(['done', 'duplicate', null]);
  await expect(tasks().update({ stage_id: backlog })).rejects.toThrow('stage_fits');
  const other = await buildTeam(world.app);
  const foreign = await buildTask(world.app, other, await buildProject(world.app, other));
  const theirs = world.app.services.db('tasks').where({ task_id: foreign.task_id });
  await expect(theirs.update({ stage_id: backlog, status: 'todo' })).rejects.toThrow('stage_fits');
});

it('narrows a list and a view, which groups by it', async () => {
  const qa = await define('In QA');
  const [first] = [await world.make({ stage_id: qa }), await world.make({ status: 'in_review' }), await world.make()];
  const found = await world.member.get(`/api/tasks?project_id=${world.project.project_id}&stage_id=${qa}`);
  expect(found.body.map(({ task_id }: { task_id: string }) => task_id)).toEqual([first.task_id]);
  const view = { name: 'v', entity_type: 'task', team_id: world.team.team_id, group_by: 'stage_id' };
  const { body } = await world.member.post('/api/saved-views', { ...view, filters: { stage_id: [qa, 'none'] } });
  expect((await world.member.get(`/api/saved-views/${body.view_id}/results`)).body).toHaveLength(3);
  expect((await world.member.get(`/api/saved-views/${body.view_id}/groups`)).body).toEqual([
    { key: qa, count: 1 },
    { key: null, count: 2 },
  ]);
});

it('a deleted stage leaves its tasks with their status, those in the trash too, each with its trace', async () => {
  const qa = await define('In QA');
  const [task, trashed] = [await world.make({ stage_id: qa }), await world.make({ stage_id: qa })];
  const many = await plantTasks(world, 1_200);
  await world.app.services.db('tasks').whereIn('task_id', many).update({ status: 'in_review', stage_id: qa });
  await world.member.delete(`/api/tasks/${trashed.task_id}`);
  const answer = await manager().delete(`/api/stages/${qa}`);
  expect(answer).toMatchObject({ status: 200, body: { success: true, stage_id: qa, tasks: 1_202 } });
  expect(await state(task.task_id)).toEqual(['in_review', null, null]);
  const left = await world.app.services.db('tasks').where({ team_id: world.team.team_id, status: 'in_review' });
  expect(left).toHaveLength(1_202);
  const { audit, events } = await world.traces(task.task_id);
  const changes = { stage_id: { from: qa, to: null } };
  expect(JSON.parse(audit.at(-1)?.['details'] as string)).toMatchObject({ changes, version: 2 });
  expect(events.at(-1)).toMatchObject({ payload: { changes } });
  expect((await world.traces(trashed.task_id)).events.at(-1)?.['event_type']).not.toBe('task.updated');
  expect((await manager().delete(`/api/stages/${qa}`)).status).toBe(404);
  const [entry] = await world.app.services.db('audit_entries').where({ entity_id: qa, action: 'delete' });
  expect(JSON.parse(entry.details)).toMatchObject({ name: 'In QA', tasks: 1_202 });
  await isSound();
});

it('no task keeps a stage that is deleted while tasks take it', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const qa = await define(`In QA ${round}`);
    const tasks = await Promise.all(Array.from({ length: 6 }, () => world.make()));
    const [deleted, ...answers] = await Promise.all([
      manager().delete(`/api/stages/${qa}`),
      ...tasks.map(({ task_id }) => patch(task_id, { stage_id: qa })),
      world.member.post('/api/tasks', { title: 'x', ...world.project, stage_id: qa }),
    ]);
    expect(deleted.status).toBe(200);
    expect(answers.every(({ status }) => [200, 201, 422].includes(status))).toBe(true);
    expect(await world.app.services.db('tasks').where({ stage_id: qa })).toEqual([]);
    const taken = answers.filter(({ status }) => status !== 422).length;
    expect(deleted.body.tasks).toBe(taken);
  }
  await isSound();
}, 120_000);

it('of writers that set a stage and a status at once, none leaves a stage of another status', async () => {
  const [qa, released] = [await define('In QA'), await define('Released', 'done')];
  const { task_id } = await world.make();
  const wanted = [{ stage_id: qa }, { status: 'todo' }, { stage_id: released }, { status: 'done', resolution: 'canceled' }];
  const answers = await Promise.all([
    ...Array.from({ length: 24 }, (_, nth) => patch(task_id, wanted[nth % 4] ?? {})),
    ...Array.from({ length: 6 }, () => world.app.services.db('tasks').where({ task_id }).update({ status: 'in_progress' })),
  ]);
  expect(answers.every((answer) => typeof answer === 'number' || answer.status === 200)).toBe(true);
  const [status, resolution, stage] = await state(task_id);
  expect([null, status === 'in_review' && qa, status === 'done' && resolution === null && released]).toContain(stage);
  await isSound();
}, 120_000);

it('goes with its team', async () => {
  const qa = await define('In QA');
  const { task_id } = await world.make({ stage_id: qa });
  await world.app.as(world.team.manager).delete(`/api/projects/${world.project.project_id}`);
  expect((await world.app.as(world.team.admin).delete(`/api/teams/${world.team.team_id}`)).status).toBe(200);
  expect(await world.app.services.db('stages').where({ team_id: world.team.team_id })).toEqual([]);
  expect(await world.row(task_id)).toMatchObject({ stage_id: null });
});

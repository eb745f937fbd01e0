import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { taskWorld } from './world.js';

// A task can be closed without being completed: canceled, or as a duplicate. The status is `done` in each case.

const world = taskWorld(60_000);
const patch = (taskId: string, fields: Record<string, unknown>) => world.member.patch(`/api/tasks/${taskId}`, fields);
const setStatus = (taskId: string, fields: Record<string, unknown>) => world.member.put(`/api/tasks/${taskId}/status`, fields);
const state = async (taskId: string) => {
  const { status, resolution } = await world.read(taskId);
  return [status, resolution];
};
const canceled = { status: 'done', resolution: 'canceled' };
const refusal = {
  status: 422,
  body: { detail: { errors: [{ field: 'body.resolution', message: 'only a task with the status done has a resolution' }] } },
};

it('is set by a creation, an update and a change of the status, and says nothing of a completed task', async () => {
  const made = await world.make(canceled);
  expect(await state(made.task_id)).toEqual(['done', 'canceled']);
  const { task_id } = await world.make();
  expect(await state(task_id)).toEqual(['todo', null]);
  await setStatus(task_id, { status: 'done', resolution: 'duplicate' });
  expect(await state(task_id)).toEqual(['done', 'duplicate']);
  expect((await world.read(task_id))['completed_at']).toEqual(expect.any(String));
  await patch(task_id, { resolution: 'canceled' });
  expect(await state(task_id)).toEqual(['done', 'canceled']);
  // Whoever knows no resolution, and sends the status as it is, changes nothing.
  await patch(task_id, { status: 'done', title: 'Other' });
  expect(await state(task_id)).toEqual(['done', 'canceled']);
  await patch(task_id, { resolution: null });
  expect(await state(task_id)).toEqual(['done', null]);
});

it('422 for a task that is not done, or not to be', async () => {
  const { task_id } = await world.make();
  expect(await patch(task_id, { resolution: 'canceled' })).toMatchObject(refusal);
  expect(await patch(task_id, { status: 'in_review', resolution: 'canceled' })).toMatchObject(refusal);
  expect(await setStatus(task_id, { status: 'todo', resolution: 'duplicate' })).toMatchObject(refusal);
  const create = (fields: object) => world.member.post('/api/tasks', { title: 'x', ...world.project, ...fields });
  expect(await create({ resolution: 'canceled' })).toMatchObject(refusal);
  expect(await create({ status: 'in_progress', resolution: 'canceled' })).toMatchObject(refusal);
  expect(await patch(task_id, { status: 'done', resolution: 'wontfix' })).toMatchObject({ status: 422 });
  const bulk = [
    { title: 'a', ...world.project, ...canceled },
    { title: 'b', ...world.project, resolution: 'canceled' },
  ];
  expect((await world.member.post('/api/tasks/bulk', bulk)).body).toMatchObject({ created: 1, failed: 1 });
  expect(await world.read(task_id)).toMatchObject({ status: 'todo', version: 1 });
});

it('goes when the task is reopened, and audit, activity and event say both', async () => {
  const { task_id } = await world.make(canceled);
  await patch(task_id, { status: 'todo' });
  expect(await state(task_id)).toEqual(['todo', null]);
  const { audit, activity, events } = await world.traces(task_id);
  const changes = { status: { from: 'done', to: 'todo' }, resolution: { from: 'canceled', to: null } };
  expect(JSON.parse(audit[1]?.['details'] as string)).toMatchObject({ changes });
  expect(activity[1]).toMatchObject({ summary: expect.stringContaining('resolution') });
  expect(events[1]).toMatchObject({ payload: { changes, task: { status: 'todo', resolution: null } } });
  await setStatus(task_id, { status: 'done' });
  expect(await state(task_id)).toEqual(['done', null]);
});

it('goes by a writer that knows the status only, as a process of the version before', async () => {
  const { task_id } = await world.make(canceled);
  await world.app.services.db('tasks').where({ task_id }).update({ status: 'in_progress' });
  expect(await state(task_id)).toEqual(['in_progress', null]);
  const bad = world.app.services.db('tasks').where({ task_id }).update({ status: 'done', resolution: 'wontfix' });
  await expect(bad).rejects.toThrow('resolution_of_done');
});

it('of writers that cancel and reopen at once, none leaves an open task with a resolution', async () => {
  const { task_id } = await world.make();
  const wanted = [canceled, { status: 'todo' }, { resolution: 'duplicate' }];
  const answers = await Promise.all(Array.from({ length: 24 }, (_, nth) => patch(task_id, wanted[nth % 3] ?? {})));
  expect(answers.every((answer) => answer.status === 200 || answer.status === 422)).toBe(true);
  const [status, resolution] = await state(task_id);
  expect(status === 'done' || resolution === null).toBe(true);
  const { audit } = await world.traces(task_id);
  for (const { details } of audit.slice(1)) {
    const { changes } = JSON.parse(details as string);
    if (changes.status?.to === 'todo') expect(changes.resolution?.to ?? null).toBeNull();
  }
  const verdicts = await checkInvariants({ services: world.app.services });
  expect(verdicts.filter(({ name, violations }) => name !== 'outbox_empty' && violations.length > 0)).toEqual([]);
}, 120_000);

it('of two writers with one version, one cancels or one reopens', async () => {
  const { task_id } = await world.make({ status: 'done' });
  const answers = await Promise.all([
    patch(task_id, { ...canceled, version: 1 }),
    patch(task_id, { status: 'todo', version: 1 }),
  ]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  expect([
    ['done', 'canceled'],
    ['todo', null],
  ]).toContainEqual(await state(task_id));
});

it('narrows a list and a view; a filter of what is done finds it too', async () => {
  const [first, second, third] = [await world.make(canceled), await world.make({ status: 'done' }), await world.make()];
  const list = await world.member.get(`/api/tasks?project_id=${world.project.project_id}&resolution=canceled`);
  expect(list.body.map(({ task_id }: { task_id: string }) => task_id)).toEqual([first.task_id]);
  const results = async (status: string[]): Promise<string[]> => {
    const view = { name: 'v', entity_type: 'task', team_id: world.team.team_id, filters: { status } };
    const { body } = await world.member.post('/api/saved-views', view);
    const rows = (await world.member.get(`/api/saved-views/${body.view_id}/results`)).body;
    return rows.map(({ task_id }: { task_id: string }) => task_id).toSorted();
  };
  expect(await results(['canceled'])).toEqual([first.task_id]);
  expect(await results(['duplicate'])).toEqual([]);
  expect(await results(['done'])).toEqual([first.task_id, second.task_id].toSorted());
  expect(await results(['todo', 'canceled'])).toEqual([first.task_id, third.task_id].toSorted());
});

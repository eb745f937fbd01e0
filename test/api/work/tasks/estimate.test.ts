import { randomUUID } from 'node:crypto';
import { rolesFor } from '../../../../api/platform/access/access.js';
import { updateTaskStatement } from '../../../../api/work/tasks/write/update-task.sql.js';
import { run } from '../../../../db/statement.js';
import { taskWorld } from './world.js';

// A task may have an estimate in points, beside its estimated hours.

const world = taskWorld();
const patch = (taskId: string, fields: Record<string, unknown>) => world.member.patch(`/api/tasks/${taskId}`, fields);

it('audit, activity and event say what it was and is', async () => {
  const { task_id } = await world.make({ estimate: 3 });
  await patch(task_id, { estimate: 5 });
  const { audit, activity, events } = await world.traces(task_id);
  const changes = { estimate: { from: 3, to: 5 } };
  expect(JSON.parse(audit[1]?.['details'] as string)).toMatchObject({ changes });
  expect(activity[1]).toMatchObject({ summary: 'changed estimate' });
  expect(events[1]).toMatchObject({ payload: { changes, task: { estimate: 5, estimated_hours: null } } });
  const feed = await world.member.get(`/api/activity?entity_id=${task_id}&limit=1`);
  expect(feed.body).toMatchObject([{ changes }]);
});

it('stays when a process of the version before changes the task', async () => {
  const { task_id } = await world.make({ estimate: 13 });
  const text = updateTaskStatement.text.replace(', estimate = (v.wanted).estimate', '');
  expect(text).not.toContain('estimate =');
  const { user_id } = world.team.member;
  const who = { request_id: randomUUID(), correlation_id: randomUUID(), actor_type: 'user', user_id };
  const change = { task_id, fields: { title: 'Theirs', estimated_hours: 2 }, version: 1, beside: null, who };
  await run(world.app.services.db, { name: '', text }, [JSON.stringify([change]), rolesFor('task.write')]);
  expect(await world.read(task_id)).toMatchObject({ title: 'Theirs', version: 2, estimate: 13, estimated_hours: 2 });
});

it('views sort by it, tasks without one last', async () => {
  const three = await world.make({ estimate: 3 });
  const none = await world.make();
  const zero = await world.make({ estimate: 0 });
  const view = { name: 'v', entity_type: 'task', team_id: world.team.team_id, sort: [{ field: 'estimate', direction: 'desc' }] };
  const { body } = await world.member.post('/api/saved-views', view);
  const rows = (await world.member.get(`/api/saved-views/${body.view_id}/results`)).body;
  expect(rows.map(({ task_id }: { task_id: string }) => task_id)).toEqual([three.task_id, zero.task_id, none.task_id]);
});

it('the database refuses what no process may write', async () => {
  const { task_id } = await world.make();
  for (const estimate of [-1, 1000])
    await expect(world.app.services.db('tasks').where({ task_id }).update({ estimate })).rejects.toThrow('estimate_in_points');
});

import { taskWorld } from './world.js';

const world = taskWorld();

describe('DELETE /api/tasks/:task_id', () => {
  it('200 moves the task with its subtree to the trash, says how to undo it, and reads then answer 404', async () => {
    const parent = await world.make();
    const child = await world.make({ parent_task_id: parent.task_id });
    const answer = await world.member.delete(`/api/tasks/${parent.task_id}`);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        success: true,
        verified: true,
        soft_deleted: true,
        retention_days: 30,
        restore_url: `/api/trash/task/${parent.task_id}/restore`,
      },
    });
    for (const { task_id } of [parent, child]) {
      expect((await world.member.get(`/api/tasks/${task_id}`)).status).toBe(404);
      expect((await world.member.patch(`/api/tasks/${task_id}`, { title: 'x' })).status).toBe(404);
      expect((await world.member.delete(`/api/tasks/${task_id}`)).status).toBe(404);
      expect((await world.row(task_id))['version']).toBe(2);
    }
    const { audit, events } = await world.traces(parent.task_id);
    expect(audit.at(-1)).toMatchObject({ action: 'delete', audit_id: answer.headers.get('x-correlation-id') });
    expect(events.at(-1)).toMatchObject({ subject: 'task.deleted' });
  });

  it('403 for a guest, 404 for an unknown task', async () => {
    const task = await world.make();
    expect((await world.app.as(world.team.guest).delete(`/api/tasks/${task.task_id}`)).status).toBe(403);
    expect((await world.member.delete('/api/tasks/nobody')).status).toBe(404);
    expect((await world.row(task.task_id))['deleted_at']).toBeNull();
  });

  it('a guest waits for no lock, and so takes none', async () => {
    const { task_id, project_id } = await world.make();
    const holder = await world.app.services.db.transaction();
    await holder.raw('select from projects where project_id = ? for update', [project_id]);
    await holder.raw('select from tasks where task_id = ? for update', [task_id]);
    // Who waits for one of them is refused as one who came too late, with a 503.
    expect((await world.app.as(world.team.guest).delete(`/api/tasks/${task_id}`)).status).toBe(403);
    await holder.rollback();
  });
});

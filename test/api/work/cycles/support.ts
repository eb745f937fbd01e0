import { v7 as uuidv7 } from 'uuid';
import type { Cycle } from '../../../../api/work/cycles/schema.js';
import type { TestTeam } from '../../../factories/people.js';
import type { Client, TestApp } from '../../../support/app.js';

/** A planned cycle, created over the API. */
export async function createCycle(client: Client, fields: Record<string, unknown>): Promise<Cycle> {
  const { status, body } = await client.post('/api/sprints', { name: 'Cycle', ...fields });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body as Cycle;
}

/** Tasks of a project, written straight into the tables; returns their ids in order. */
export async function insertTasks(
  app: TestApp,
  team: TestTeam,
  { project_id }: { project_id: string },
  fields: Record<string, unknown>[],
): Promise<string[]> {
  const { db } = app.services;
  const rows = fields.map((each) => ({
    task_id: uuidv7(),
    project_id,
    team_id: team.team_id,
    title: 'Task',
    created_by: team.member.user_id,
    ...(each['status'] === 'done' ? { completed_at: new Date() } : {}),
    ...each,
  }));
  await db.batchInsert(
    'item_keys',
    rows.map(({ task_id }) => ({ item_id: task_id, item_type: 'task' })),
    1_000,
  );
  await db.batchInsert('tasks', rows, 1_000);
  return rows.map(({ task_id }) => task_id);
}

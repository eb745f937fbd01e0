import { Client, Connection } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { restartUnclaimed } from '../../activities/runs/unclaimed-runs.js';
import { createRuns } from '../../api/automation/runs/record/create-run.js';
import { buildAutomation } from '../factories/automations.js';
import { buildTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { queuePrefix } from '../support/worker.js';

// What a pass over the runs that nobody has begun asks of Temporal while many wait.

let app: TestApp;
let connection: Connection;
beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
});
afterAll(async () => {
  await connection.close();
  await app.close();
});

it('a backlog of several pages lists the old workflows once, and restarts each run once', async () => {
  const COUNT = 2_100;
  const { db, config } = app.services;
  const { automation_id } = await buildAutomation(app, await buildTeam(app), { actions: [], trigger_type: 'task.deleted' });
  const runs = Array.from({ length: COUNT }, () => ({
    run_id: uuidv7(),
    automation: { automation_id, name: 'Lost', version: 1 },
    event: { type: 'task.deleted' },
    trigger_type: 'task.deleted',
    depth: 0,
    correlation_id: uuidv7(),
  }));
  await createRuns({ db }, runs, null);
  await db('automation_runs').update({ queued_at: db.raw("now() - interval '1 day'") });
  await db('outbox').where({ kind: 'run.start' }).delete();

  const client = new Client({ connection });
  const since: string[] = [];
  const list = client.workflow.list.bind(client.workflow);
  client.workflow.list = ((options: { query: string }) => {
    since.push(/StartTime > '(.+)'/.exec(options.query)?.[1] ?? '');
    return list(options);
  }) as typeof client.workflow.list;
  const restart = () => restartUnclaimed(app.services, client, { taskQueuePrefix: config.TASK_QUEUE_PREFIX });
  expect(await restart()).toBe(COUNT);
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  expect(since.map((time) => time < hourAgo)).toEqual([true, false, false]);
  // Their starts are in the outbox now.
  expect(await restart()).toBe(0);
  expect(await db('outbox').where({ kind: 'run.start' })).toHaveLength(COUNT);
});

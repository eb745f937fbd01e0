/** A worker that dies at each point of an import and of its undo: real processes, real Temporal. Nothing is doubled, and nothing is lost. */
import type { ChildProcess } from 'node:child_process';
import { Client, Connection } from '@temporalio/client';
import { bulkUndoWorkflowId, bulkWorkflowId } from '../../../workflows/contracts/bulk-contract.js';
import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Place, StandStill } from '../../support/stand-still.js';
import { queuePrefix, until } from '../../support/worker.js';
import { startWorkerProcess } from '../../support/worker-process.js';
import { ndjson, readJob } from './import-support.js';

const CHUNK = "(new.cursor->>'chunk')::int";
const BEFORE = "coalesce((old.cursor->>'chunk')::int, -1)";

/** Points of an import and of an undo. A worker writes two at a time, so two stand still in each round, which ends with one kill. */
const update = (condition: string): Place => ({ table: 'bulk_jobs', when: 'before update', condition });
const commit = (condition: string): Place => ({ table: 'bulk_jobs', when: 'deferred update', condition });
const POINTS = {
  // The input was read; its rows and their order are about to be stored.
  prepared: update('new.cursor is not null and old.cursor is null'),
  // In the statement that writes tasks; after it; within the COMMIT of both.
  writing: { table: 'tasks', when: 'before insert' },
  moving: update(`${CHUNK} = 1 and ${BEFORE} = 0`),
  committing: commit(`${CHUNK} = 2 and ${BEFORE} = 1`),
  ending: update("new.status = 'succeeded' and old.status = 'running'"),
  taking: update('new.undone > old.undone'),
  undoing: commit('new.undone > old.undone'),
  undone: update("new.undo_status = 'succeeded' and old.undo_status = 'running'"),
} as const satisfies Record<string, Place>;
type Point = keyof typeof POINTS;
const ROUNDS: Point[][] = [
  ['prepared', 'writing'],
  ['moving', 'taking'],
  ['committing', 'undoing'],
  ['ending', 'undone'],
];
const OF_UNDO: readonly Point[] = ['taking', 'undoing', 'undone'];

let app: TestApp;
let connection: Connection;
let temporal: Client;
let worker: ChildProcess;
let still: StandStill;
const db = () => app.services.db;

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
  still = new StandStill(app);
  await still.open();
  for (const [name, place] of Object.entries(POINTS)) await still.at(name, place);
  worker = await startWorkerProcess(app);
});
afterAll(async () => {
  worker.kill('SIGKILL');
  await connection.close();
  await still.close();
  await app.close();
});

const TASKS = 520;

interface Started {
  team: TestTeam;
  jobId: string;
}

/** Requests an import; `hold` is called before it, as soon as its team is known. */
async function requestImport(hold: (teamId: string) => Promise<void> = () => Promise.resolve()): Promise<Started> {
  const team = await buildTeam(app);
  await hold(team.team_id);
  const { project_id } = await buildProject(app, team);
  const records = Array.from({ length: TASKS }, (_, at) => ({ entity: 'task', title: `A secret title ${at}`, project_id }));
  const data = ndjson([...records, { entity: 'note', title: 'A secret note' }]);
  const { body } = await app.as(team.manager).post('/api/bulk/import', { team_id: team.team_id, format: 'ndjson', data });
  return { team, jobId: body.job_id };
}

const job = ({ team, jobId }: Started) => readJob(app.as(team.manager), jobId);
const succeeded = (one: Started) => until(async () => (await job(one)).status === 'succeeded');
const live = async ({ team }: Started) =>
  Number((await db()('tasks').where({ team_id: team.team_id }).whereNull('deleted_at').count().first())?.['count']);
const undo = (one: Started) => app.as(one.team.manager).post(`/api/bulk/jobs/${one.jobId}/undo`);

type Hold = (teamId: string) => Promise<void>;

/** Returns what starts an import that will stand still at a point, or the undo of one that has succeeded, which will. */
async function prepareHeld(point: Point): Promise<(hold: Hold) => Promise<Started>> {
  if (!OF_UNDO.includes(point)) return requestImport;
  const one = await requestImport();
  await succeeded(one);
  return async (hold) => {
    await hold(one.team.team_id);
    expect((await undo(one)).status).toBe(202);
    return one;
  };
}

/**
 * A history holds ids, counts and codes only. Its activities wait in the queue of imports, where they hold no place of other teams' requests, and
 * an undo does not wait behind the runs of its team.
 */
async function expectHistory(workflowId: string, jobId: string, priorityKey: number): Promise<void> {
  const history = await temporal.workflow.getHandle(workflowId).fetchHistory();
  const events = history.events ?? [];
  expect(events[0]?.workflowExecutionStartedEventAttributes?.priority).toMatchObject({ priorityKey });
  const queues = events.map(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.taskQueue?.name);
  expect(new Set(queues.filter((name) => name))).toEqual(new Set([`${app.services.config.TASK_QUEUE_PREFIX}imports`]));
  const shown = JSON.stringify(history, (_key, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(shown).toContain(jobId);
  expect(shown).not.toContain('A secret');
}

it.each(ROUNDS.map((points) => ({ points })))(
  'killed at $points: each record is written once, and undone once',
  async ({ points }) => {
    const started: Started[] = [];
    // Both begin together: what stands still is tried again after ever longer pauses, and has to stand still at the same time.
    const starts = [];
    for (const point of points) starts.push([point, await prepareHeld(point)] as const);
    for (const [point, start] of starts) started.push(await start((teamId) => still.hold(point, teamId)));
    await until(async () => (await still.standing()) >= points.length);
    await still.kill(worker);
    worker = await startWorkerProcess(app);
    for (const one of started) {
      await succeeded(one);
      expect(await job(one)).toMatchObject({ created: TASKS + 1, processed: TASKS + 1, failed: 0 });
      const { team } = one;
      expect(await db()('tasks').where({ team_id: team.team_id })).toHaveLength(TASKS);
      const created = await db()('audit_entries').where({ team_id: team.team_id, entity_type: 'task', action: 'create' });
      expect(created).toHaveLength(TASKS);
      await expectHistory(bulkWorkflowId(one.jobId), one.jobId, 0);
      if ((await job(one)).undo_status === null) {
        expect(await live(one)).toBe(TASKS);
        expect((await undo(one)).status).toBe(202);
      }
      await until(async () => (await job(one)).undo_status === 'succeeded');
      expect(await job(one)).toMatchObject({ undone: TASKS + 1 });
      expect(await live(one)).toBe(0);
      await expectHistory(bulkUndoWorkflowId(one.jobId), one.jobId, 2);
    }
  },
  180_000,
);

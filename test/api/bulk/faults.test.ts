/** A worker that dies at each point of an export: real processes, real Temporal. Each export ends once, with one whole file. */
import type { ChildProcess } from 'node:child_process';
import { Client, Connection } from '@temporalio/client';
import { fileStore } from '../../../api/work/items/files/store/file-store.js';
import { bulkWorkflowId } from '../../../workflows/contracts/bulk-contract.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Place, StandStill } from '../../support/stand-still.js';
import { queuePrefix, until } from '../../support/worker.js';
import { startWorkerProcess } from '../../support/worker-process.js';
import { download, requestExport } from './support.js';

/**
 * Points of an export. Two stand still in one worker at a time, for it writes two exports at once: each round ends with one kill, together
 * with a row that the relay holds.
 */
const POINTS = {
  // Before a byte is read, and when half of the file is written.
  claimed: { table: 'bulk_jobs', when: 'before update', condition: "new.status = 'running' and old.status = 'queued'" },
  reading: null,
  // The relay holds the row that starts the workflow.
  dispatched: { table: 'outbox', when: 'before delete', condition: "old.kind = 'bulk.start'", owner: 'old.team_id' },
  // The file is in the store: no row names it; the row that does is about to be committed, within COMMIT.
  ending: { table: 'bulk_jobs', when: 'before update', condition: "new.status = 'succeeded'" },
  commit: { table: 'bulk_jobs', when: 'deferred update', condition: "new.status = 'succeeded'" },
} as const satisfies Record<string, Place | null>;
type Point = keyof typeof POINTS;
const ROUNDS: Point[][] = [
  ['claimed', 'reading', 'dispatched'],
  ['ending', 'commit'],
];

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
  for (const [name, place] of Object.entries(POINTS)) if (place) await still.at(name, place);
  await db().raw(/* sql */ `
    alter function custom_field_json(custom_field_values) rename to json_of_value;
    create function custom_field_json(v custom_field_values) returns json language plpgsql as $$
    begin
      perform stand_still('reading' || v.team_id);
      return json_of_value(v);
    end $$`);
  worker = await startWorkerProcess(app);
});
afterAll(async () => {
  worker.kill('SIGKILL');
  await connection.close();
  await still.close();
  await app.close();
});

/** A team with a task that has the value of a field. */
async function build(): Promise<TestTeam> {
  const team = await buildTeam(app);
  const task = await buildTask(app, team, await buildProject(app, team), { title: 'A secret title' });
  const field = { team_id: team.team_id, name: 'Note', field_type: 'text', entity_type: 'task' };
  const { body } = await app.as(team.manager).post('/api/custom-fields', field);
  const value = { field_id: body.field_id, entity_type: 'task', entity_id: task.task_id, value: 'A secret value' };
  await app.as(team.manager).put('/api/custom-fields/values', value);
  return team;
}

it.each(ROUNDS.map((points) => ({ points })))(
  'killed at $points: each job ends once, with one file',
  async ({ points }) => {
    const teams = await Promise.all(points.map(build));
    for (const [at, point] of points.entries()) await still.hold(point, (teams[at] as TestTeam).team_id);
    const ids = await Promise.all(teams.map((team) => requestExport(app, team.manager, { team_id: team.team_id })));
    await until(async () => (await still.standing()) >= points.length);
    await still.kill(worker);
    worker = await startWorkerProcess(app);
    for (const [at, job_id] of ids.entries()) {
      const team = teams[at] as TestTeam;
      await until(async () => (await app.as(team.manager).get(`/api/bulk/jobs/${job_id}`)).body.status === 'succeeded');
      const { bytes } = await download(app, team.manager, job_id);
      const rows = bytes
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { entity: string });
      expect(rows.map(({ entity }) => entity)).toEqual(['project', 'custom_field', 'task', 'custom_field_value']);
      expect(await db()('audit_entries').where({ entity_id: job_id, action: 'complete' })).toHaveLength(1);
      const handle = temporal.workflow.getHandle(bulkWorkflowId(job_id));
      const result: unknown = await handle.result();
      expect(result).toMatchObject({ status: 'succeeded', processed: 4 });
      // Ids, counts and codes only.
      const shown = JSON.stringify(await handle.fetchHistory(), (_key, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : value,
      );
      expect(shown).toContain(job_id);
      expect(shown).not.toContain('A secret');
    }
    // What the killed attempts have left is gone, up to what the sweep removes.
    const kept = await db()('bulk_jobs').whereNotNull('object_key').pluck<string[]>('object_key');
    const stored = (await fileStore(app.services.config).list('')).map(({ key }) => key);
    expect(kept.filter((key) => !stored.includes(key))).toEqual([]);
    expect(stored.filter((key) => !kept.includes(key))).toEqual([]);
  },
  180_000,
);

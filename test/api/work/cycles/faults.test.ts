/** A worker that dies at each point of completing a cycle by its date: real processes, real Temporal. Each cycle completes once. */
import { Client, Connection } from '@temporalio/client';
import type { ChildProcess } from 'node:child_process';
import { checkInvariants } from '../../../../scripts/chaos/invariants.js';
import { cycleWorkflowId } from '../../../../workflows/contracts/cycle-contract.js';
import { buildProject, buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type Place, StandStill } from '../../../support/stand-still.js';
import { queuePrefix, until } from '../../../support/worker.js';
import { startWorkerProcess } from '../../../support/worker-process.js';
import { dayIn, startedCycle } from '../../../workflows/record-cycle.js';

/** Points of the completion, and the team that each row belongs to. */
const POINTS = {
  stays: {
    table: 'cycle_tasks',
    when: 'before update',
    owner: '(select team_id from cycles where cycle_id = new.cycle_id)',
  },
  tasks: { table: 'tasks', when: 'before update' },
  audit: { table: 'audit_entries', when: 'before insert' },
  snapshot: { table: 'cycles', when: 'before update', condition: "new.status = 'completed'" },
  // What waits until the end of the transaction runs within COMMIT: the cycle is completed, and nobody hears of it.
  commit: { table: 'cycles', when: 'deferred update', condition: "new.status = 'completed'" },
  // The relay holds the row that wakes the clock.
  dispatched: { table: 'outbox', when: 'before delete', condition: "old.kind = 'cycle.clock'", owner: 'old.team_id' },
} as const satisfies Record<string, Place>;
type Point = keyof typeof POINTS;

let app: TestApp;
let connection: Connection;
let temporal: Client;
let worker: ChildProcess;
let still: StandStill;
const db = () => app.services.db;

const startWorker = async () => {
  worker = await startWorkerProcess(app, { DATABASE_POOL_SIZE: '20' });
};

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
  still = new StandStill(app);
  await still.open();
  await startWorker();
});
afterAll(async () => {
  worker.kill('SIGKILL');
  await connection.close();
  await still.close();
  await app.close();
});

it('a worker that dies at each point of a completion leaves each cycle completed once', async () => {
  const points = Object.keys(POINTS) as Point[];
  const cases: { point: Point; team: TestTeam; cycle_id: string; task_ids: string[] }[] = [];
  for (const point of points) {
    const team = await buildTeam(app);
    const project = await buildProject(app, team);
    cases.push({ point, team, ...(await startedCycle({ app, team, project, temporal })) });
  }
  await until(async () => (await db()('outbox').where({ kind: 'cycle.clock' })).length === 0);
  for (const point of points) await still.at(point, POINTS[point]);
  // The relay stands still at the last point, behind everything that it has handed over.
  for (const { point, team, cycle_id } of cases) {
    await still.hold(point, team.team_id);
    const before = await still.standing();
    await db()('cycles')
      .where({ cycle_id })
      .update({ end_date: dayIn(-1) });
    await until(async () => (await still.standing()) > before, 60_000);
  }
  await still.kill(worker);
  await startWorker();
  for (const { point, cycle_id, task_ids } of cases) {
    const result = await temporal.workflow.getHandle(cycleWorkflowId(cycle_id)).result();
    expect({ point, result }).toEqual({ point, result: { state: 'completed', carriedOver: 1 } });
    expect(await db()('audit_entries').where({ entity_id: cycle_id, action: 'complete' })).toHaveLength(1);
    const versions = await db()('tasks').whereIn('task_id', task_ids).orderBy('task_id').pluck('version');
    expect({ point, versions }).toEqual({ point, versions: [3, 2] });
  }
  // The chain of the audit knows every trigger that the product has not made.
  await db().raw('drop trigger stand_still_at_audit on audit_entries');
  // Other invariants are about what the factories leave out.
  const ours = /^(one_active_cycle|snapshots_true|stays_open|cycles_|outbox_empty|chain_intact)/;
  let found: string[] = [];
  await until(async () => {
    const verdicts = await checkInvariants({ services: app.services, temporal });
    found = verdicts.flatMap(({ name, violations }) => violations.map((violation) => `${name}: ${violation}`));
    return !found.some((line) => ours.test(line));
  }, 30_000).catch(() => undefined);
  expect(found.filter((line) => ours.test(line))).toEqual([]);
}, 240_000);

/** A worker that dies at each point of completing a cycle by its date: real processes, real Temporal. Each cycle completes once. */
import { Client, Connection } from '@temporalio/client';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { checkInvariants } from '../../../scripts/chaos/invariants.js';
import { cycleWorkflowId } from '../../../workflows/contract.js';
import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';
import { advisoryLocks } from '../../support/database.js';
import { queuePrefix, until } from '../../support/worker.js';
import { startWorkerProcess } from '../../support/worker-process.js';
import { dayIn, startedCycle } from '../../workflows/record-cycle.js';

/** Points of the completion, each the trigger that stands still there, and the team it belongs to. */
const POINTS = {
  stays: ['cycle_tasks', 'before update', '(select team_id from cycles where cycle_id = new.cycle_id)'],
  tasks: ['tasks', 'before update', 'new.team_id'],
  audit: ['audit_entries', 'before insert', 'new.team_id'],
  snapshot: ['cycles', 'before update', 'new.team_id'],
  // What waits until the end of the transaction runs within COMMIT: the cycle is completed, and nobody hears of it.
  commit: ['cycles', 'deferred', 'new.team_id'],
  // The relay holds the row that wakes the clock.
  dispatched: ['outbox', 'before delete', "case when old.kind = 'cycle.clock' then old.team_id end"],
} as const;
type Point = keyof typeof POINTS;

let app: TestApp;
let connection: Connection;
let temporal: Client;
let worker: ChildProcess;
const db = () => app.services.db;

const standStill = (point: Point) => {
  const [table, when, team] = POINTS[point];
  const name = `stand_still_at_${point}`;
  const condition = table === 'cycles' ? "new.status = 'completed'" : 'true';
  const trigger =
    when === 'deferred'
      ? `create constraint trigger ${name} after update on ${table} deferrable initially deferred`
      : `create trigger ${name} ${when} on ${table}`;
  return db().raw(/* sql */ `
    create function ${name}() returns trigger language plpgsql as $$
    begin
      if ${condition} and exists (select from fault_points where point = '${point}' and team_id = ${team}) then
        -- Seen by the test.
        perform pg_advisory_xact_lock_shared(4712, hashtext('${point}'));
        while exists (select from fault_points where point = '${point}') loop perform pg_sleep(0.01); end loop;
      end if;
      return coalesce(new, old);
    end $$;
    ${trigger} for each row execute function ${name}()`);
};

const startWorker = async () => {
  worker = await startWorkerProcess(app, { DATABASE_POOL_SIZE: '20' });
};
const standing = (): Promise<number> => advisoryLocks(db(), 4712, 'held');
/** Freezes the worker, lets the statements that stand still go on without it, and kills it. */
async function killWorker(): Promise<void> {
  worker.kill('SIGSTOP');
  await db()('fault_points').delete();
  await until(async () => (await standing()) === 0);
  const gone = once(worker, 'exit');
  worker.kill('SIGKILL');
  await gone;
}

beforeAll(async () => {
  app = await startApp({ TASK_QUEUE_PREFIX: queuePrefix() });
  connection = await Connection.connect({ address: app.services.config.TEMPORAL_ADDRESS });
  temporal = new Client({ connection });
  await db().raw('create table fault_points (point text, team_id uuid)');
  await startWorker();
});
afterAll(async () => {
  worker.kill('SIGKILL');
  await connection.close();
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
  for (const point of points) await standStill(point);
  // The relay stands still at the last point, behind everything that it has handed over.
  for (const { point, team, cycle_id } of cases) {
    await db()('fault_points').insert({ point, team_id: team.team_id });
    const before = await standing();
    await db()('cycles')
      .where({ cycle_id })
      .update({ end_date: dayIn(-1) });
    await until(async () => (await standing()) > before, 60_000);
  }
  await killWorker();
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

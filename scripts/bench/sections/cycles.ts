import { Agent } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import { metered } from '../process-table.js';
import type { Section } from '../report.js';
import { addProject, type World } from '../seed.js';
import { bearer, expect, send } from '../send.js';
import type { Servers } from '../servers.js';
import { median, quantile } from '../statistics.js';
import { withSides } from './requests-section.js';

const TASKS = 5_000;
const WARM_UPS = 2;
const ROUNDS = 12;

/** An active cycle of 5,000 tasks, half of them done, and the planned one after it. */
const CYCLE = /* sql */ `
  with keys as (
    insert into item_keys (item_id, item_type) select uuidv7()::text, 'task' from generate_series(1, :tasks) returning item_id
  ), cycle as (
    insert into cycles (cycle_id, team_id, project_id, number, name, status, started_at, created_by, cause_user_ids, correlation_id)
      values (:cycle, :team, :project, :number, 'Cycle', 'active', now(), :user, '{}', :cycle),
        (:next, :team, :project, :number + 1, 'Next', 'planned', null, :user, '{}', :next)
  ), made as (
    insert into tasks (task_id, project_id, team_id, title, status, completed_at, created_by, estimated_hours, cycle_id)
      select item_id, :project, :team, 'Check the pressure of tank 2', case when n % 2 = 0 then 'done' else 'todo' end,
        case when n % 2 = 0 then now() end, :user, 2, :cycle
      from (select item_id, row_number() over () as n from keys) k returning task_id
  )
  insert into cycle_tasks (cycle_id, task_id, committed, points) select :cycle, task_id, true, 2 from made`;

/** The same rows as a completion, without any check, figure or JSON: half of the tasks move, and each leaves an audit entry. */
const FLOOR = [
  'update tasks set cycle_id = :next, version = version + 1, updated_at = now() where cycle_id = :cycle and status <> ?',
  "update cycle_tasks set removed_at = clock_timestamp(), outcome = 'carried_over' where cycle_id = :cycle and task_id in (select task_id from tasks where cycle_id = :next)",
  'insert into cycle_tasks (cycle_id, task_id) select :next::uuid, task_id from tasks where cycle_id = :next',
  "update cycle_tasks set outcome = 'completed' where cycle_id = :cycle and removed_at is null",
  `with made as (
     insert into audit_entries (audit_id, correlation_id, timestamp, team_id, user_id, actor_type, feature, action, severity, outcome, entity_type,
       entity_id, details)
     select uuidv7(), :cycle::uuid, to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'), :team::uuid, :user::uuid, 'user',
       'tasks', 'update', 'LOW', 'success', 'task', task_id, '{"changes": {"cycle_id": {"from": null, "to": null}}, "version": 2}'
     from tasks where cycle_id = :next returning audit_id)
   insert into audit_pending (audit_id, chain) select audit_id, :team::uuid from made`,
].map((statement) => statement.replace('?', "'done'"));

async function buildCycle({ db }: Servers, { teamId, userId }: World, project: string, round: number) {
  const ids = { cycle: uuidv7(), next: uuidv7(), team: teamId, user: userId, project, tasks: TASKS, number: 2 * round + 1 };
  // One active cycle of the project: those of the rounds before are over.
  await db('cycles')
    .where({ project_id: project })
    .update({ status: 'planned', started_at: null, completed_at: null, snapshot: null });
  await db.raw(CYCLE, ids as never);
  await db.raw('analyze cycle_tasks');
  return ids;
}

interface Spent {
  ms: number;
  /** Seconds of PostgreSQL's CPU. */
  cpu: number;
}

/** Completes cycles of 5,000 tasks in one transaction each, and in turn writes the same rows without any check. */
export const cyclesSection: Section = (servers, world) =>
  withSides(servers, async ({ product }) => {
    const project = await addProject(servers.db, world, 0);
    const over = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { ...bearer(world), 'Content-Type': 'application/json' };
    const times: { product: Spent; floor: Spent }[] = [];
    const timed = async (work: () => Promise<unknown>): Promise<Spent> => {
      const started = performance.now();
      const { cpu } = await metered({ postgres: servers.postgresCpu }, work);
      return { ms: performance.now() - started, cpu: cpu.postgres };
    };
    for (let round = 0; round < WARM_UPS + ROUNDS; round += 1) {
      const ours = await buildCycle(servers, world, project, 2 * round);
      const path = `/api/sprints/${ours.cycle}/complete`;
      const spent = await timed(() =>
        expect(200, send(product.port, path, headers, JSON.stringify({ rollover_to: ours.next }), over)),
      );
      const ids = await buildCycle(servers, world, project, 2 * round + 1);
      const floor = await timed(() =>
        servers.db.transaction(async (trx) => {
          for (const statement of FLOOR) await trx.raw(statement, ids as never);
        }),
      );
      if (round >= WARM_UPS) times.push({ product: spent, floor });
    }
    over.destroy();
    const all = (side: 'product' | 'floor', of: keyof Spent) => times.map((each) => each[side][of]);
    const ratio = median(times.map((each) => each.floor.ms / each.product.ms));
    const note = (side: 'product' | 'floor') =>
      `${side.padEnd(8)}p50 ${quantile(all(side, 'ms'), 0.5).toFixed(0)} ms, p99 ${quantile(all(side, 'ms'), 0.99).toFixed(0)} ms, ` +
      `CPU of PostgreSQL ${(median(all(side, 'cpu')) * 1_000).toFixed(0)} ms`;
    return [
      {
        name: `POST /api/sprints/:id/complete of ${TASKS.toLocaleString('en')} tasks, half of them open`,
        goals: [{ what: 'p50', value: quantile(all('product', 'ms'), 0.5), goal: 500, better: 'less', unit: ' ms' }],
        notes: [note('product'), note('floor'), `ratio ${ratio.toFixed(2)} of the same rows without a check`],
      },
    ];
  });

import { call } from '../client.js';
import { pace } from './unmatched-events.js';
import { metered } from '../process-table.js';
import { quiet } from '../quiet.js';
import type { Goal, Section } from '../report.js';
import type { World } from '../seed.js';
import type { Servers, Service } from '../servers.js';
import { sum } from '../statistics.js';

const TEAMS = 1_000;
/** Automations per team; every fifth is its owner's personal one. */
const EACH = 10;
/** Writes per second: each causes its own pass of the relay. */
const RATE = 100;

const OTHERS = /* sql */ `
  with people as (
    insert into users (email, name, username, display_name, avatar)
    select 'other-' || i || '@bench.test', 'Other', 'other-' || i, 'Other', 'https://bench.test/a.png' from generate_series(1, :teams) i
    returning user_id
  ), teams as (
    insert into teams (name, created_by) select 'Others', user_id from people returning team_id, created_by
  ), seats as (
    insert into memberships (team_id, user_id, role) select team_id, created_by, 'admin' from teams
  ), made as (
    insert into automations (name, trigger_type, actions, team_id, created_by, updated_by)
    select 'Of others', (array['task.created', 'task.updated', 'task.status_changed', 'task.completed'])[1 + i % 4],
      '[{"type": "add_comment", "params": {"content": "Seen"}}]', case when i % 5 > 0 then team_id end, created_by, created_by
    from teams, generate_series(1, :each) i
    returning automation_id, version, name, trigger_type, actions, created_by
  )
  insert into automation_versions (automation_id, version, name, trigger_type, actions, changed_by)
  select automation_id, version, name, trigger_type, actions, created_by from made returning automation_id`;

/** Writes without subscribers: alternately a new task and a change of one. */
function writer(api: Service, world: World): () => Promise<unknown> {
  let round = 0;
  return () => {
    round += 1;
    if (round % 2 === 0)
      return call(api, world, 'POST', '/api/tasks', { title: 'Nobody listens', project_id: world.projects[0] });
    return call(api, world, 'PATCH', `/api/tasks/${world.tasks[round % world.tasks.length]}`, { title: `Check valve ${round}` });
  };
}

const mean = (values: number[]): number => sum(values) / values.length;

/**
 * Cost of a write with and without the automations of others: two halves per round, whose difference shows the measurement error.
 */
async function byTurns(servers: Servers, measureCost: () => Promise<number>, others: string[], rounds: number) {
  const halves = { without: [] as [number, number][], with: [] as [number, number][] };
  const sides = ['without', 'with'] as const;
  for (let round = 0; round < rounds; round += 1) {
    // Each side goes first once, so that growth affects both equally.
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      await servers
        .db('automations')
        .whereIn('automation_id', others)
        .update({ is_active: side === 'with' });
      await servers.db.raw('vacuum (analyze) automations, automation_versions, outbox, tasks');
      halves[side].push([await measureCost(), await measureCost()]);
    }
  }
  const noise = mean([...halves.without, ...halves.with].map(([first, second]) => Math.abs(first - second)));
  return { without: mean(halves.without.flat()), with: mean(halves.with.flat()), noise };
}

/** Cost that 10,000 enabled automations of other teams and users add to a write: API, worker and PostgreSQL together. */
export const activeAutomationsSection: Section = async (servers, world, { rounds }) => {
  await servers.startTemporal();
  await servers.db('automations').update({ is_active: false });
  const { rows } = await servers.db.raw<{ rows: { automation_id: string }[] }>(OTHERS, { teams: TEAMS, each: EACH });
  const [api, worker] = [await servers.startApi(), await servers.startWorker()];
  const write = writer(api, world);
  const measureCost = async () => {
    const readings = { api: api.cpu, worker: worker.cpu, postgres: servers.postgresCpu };
    const { result, cpu } = await metered(readings, () => pace(RATE, write));
    return (sum(Object.values(cpu)) / result) * 1_000;
  };
  await quiet(servers.db);
  // Twice, because Node still compiles during the first run.
  for (let i = 0; i < 2; i += 1) await measureCost();
  const others = rows.map((row) => row.automation_id);
  const cost = await byTurns(servers, measureCost, others, rounds);
  await Promise.all([api.stop(), worker.stop()]);
  const more: Goal = {
    what: 'more CPU ms a write, against the noise',
    value: cost.with - cost.without,
    goal: Number(cost.noise.toFixed(2)),
    better: 'less',
    unit: ' ms',
  };
  const notes = [
    `${cost.without.toFixed(2)} CPU ms a write without, ${cost.with.toFixed(2)} with; two halves of the same differ by ${cost.noise.toFixed(2)}`,
  ];
  return [{ name: `${others.length.toLocaleString('en')} active automations of others`, goals: [more], notes }];
};

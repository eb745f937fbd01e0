import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { createAutomation, newTask, reached, spans } from './automations.js';
import { metered, readResident } from '../process-table.js';
import { drained, quiet } from '../quiet.js';
import type { Goal, Result, Section } from '../report.js';
import type { World } from '../seed.js';
import type { Servers, Service } from '../servers.js';
import { quantile } from '../statistics.js';

const AUTOMATIONS = 1_000;
const EVENTS = 1_000;
const LATENCY_RUNS = 150;
/** Events for 1,000 automations of which one matches. */
const COSTED_EVENTS = 10;
const SAMPLE_MS = 10;
const REST_MS = 30;

/** A condition of almost the maximum length that is never true. */
const NEVER = ' || event.task.title == "never"'.repeat(26);
const CONDITION = `event.task.title == "${'x'.repeat(980 - 22 - NEVER.length)}"${NEVER}`;

/** A team with the maximum number of automations. The condition of the first one depends on `fires`. */
const CROWD = /* sql */ `
  with person as (
    insert into users (email, name, username, display_name, avatar)
    values (:name || '@bench.test', :name, :name, :name, 'https://bench.test/a.png') returning user_id
  ), team as (
    insert into teams (name, created_by) select :name, user_id from person returning team_id, created_by
  ), seat as (
    insert into memberships (team_id, user_id, role) select team_id, created_by, 'admin' from team
  ), made as (
    insert into automations (name, trigger_type, condition, actions, team_id, created_by, updated_by)
    select 'Crowd ' || i, 'task.created', case when i = 1 and :fires::boolean then 'true' else :condition end,
      '[{"type": "notify", "params": {"message": "Seen"}}]', team_id, created_by, created_by
    from team, generate_series(1, :automations::int) i
    returning automation_id, version, name, trigger_type, condition, actions, team_id, created_by
  ), versions as (
    insert into automation_versions (automation_id, version, name, trigger_type, condition, actions, changed_by)
    select automation_id, version, name, trigger_type, condition, actions, created_by from made
  )
  select team_id, created_by as user_id from team`;

/** Pending events, as `enqueue_events` writes them. */
const PENDING = /* sql */ `
  insert into outbox (kind, subject, team_id, actor_id, payload, correlation_id)
  select 'event', 'task.created', :team, :person, jsonb_build_object('actor_id', :person::text, 'task', task_json(t), 'changes', '{}'::jsonb),
    uuidv7() from tasks t, generate_series(1, :count::int) where t.task_id = :task`;

interface Crowd {
  team_id: string;
  user_id: string;
}

async function crowd({ db }: Servers, name: string, fires: boolean, condition: string): Promise<Crowd> {
  const { rows } = await db.raw<{ rows: Crowd[] }>(CROWD, { name, fires, condition, automations: AUTOMATIONS });
  await db.raw('analyze automations, automation_versions');
  return rows[0] as Crowd;
}

const addEvents = ({ db }: Servers, { tasks }: World, { team_id, user_id }: Crowd, count: number) =>
  db.raw(PENDING, { team: team_id, person: user_id, count, task: tasks[0] as string });

/** Returns the maximum age of a relay statement, ms, and the maximum resident size of the worker, bytes. */
async function watch(db: Knex, worker: Service, until: () => boolean): Promise<{ statement: number; resident: number }> {
  const seen = { statement: 0, resident: 0 };
  while (!until()) {
    const { rows } = await db.raw<{ rows: { ms: number | null }[] }>(/* sql */ `
      select max(extract(epoch from clock_timestamp() - query_start)) * 1000 as ms from pg_stat_activity
      where application_name = 'assent-relay' and state = 'active'`);
    seen.statement = Math.max(seen.statement, Number(rows[0]?.ms ?? 0));
    seen.resident = Math.max(seen.resident, readResident(worker.pid));
    await sleep(SAMPLE_MS);
  }
  return seen;
}

type Measure = () => Promise<number[]>;

/** Latency from another team's event to its first action, ms, sequentially. */
function measureLatency({ db }: Servers, api: Service, world: World, automation: { id: string; project: string }): Measure {
  return async () => {
    const causes: string[] = [];
    for (let i = 0; i < LATENCY_RUNS; i += 1) {
      const { id } = await newTask(api, world, automation.project);
      causes.push(id);
      await reached(db, automation.id, id, 'succeeded');
      await sleep(REST_MS);
    }
    return spans(db, causes);
  };
}

const p99 = (values: number[]): number => quantile(values, 0.99);
const text = (values: number[]): string => `p50 ${quantile(values, 0.5).toFixed(1)} ms, p99 ${p99(values).toFixed(1)} ms`;

async function beside(servers: Servers, world: World, worker: Service, measure: Measure): Promise<Result> {
  const alone = await measure();
  await addEvents(servers, world, await crowd(servers, 'crowd', false, CONDITION), EVENTS);
  await servers.db.raw('notify assent_outbox');
  let isOver = false;
  const watching = watch(servers.db, worker, () => isOver);
  const crowded = await measure();
  isOver = true;
  const { statement, resident } = await watching;
  const left = await servers.db('outbox').where({ kind: 'event' }).count();
  await servers.db('outbox').where({ kind: 'event' }).delete();
  const goals: Goal[] = [
    { what: 'p99 more than alone', value: p99(crowded) - p99(alone), goal: 200, better: 'less', unit: ' ms' },
    { what: 'longest statement of the relay seen', value: statement, goal: 1_000, better: 'less', unit: ' ms' },
    { what: 'resident size of the worker', value: resident / 2 ** 20, goal: 400, better: 'less', unit: ' MB' },
  ];
  const notes = [
    `alone    ${text(alone)}`,
    `crowded  ${text(crowded)}`,
    `events of the crowd left at the end: ${left[0]?.['count']}`,
  ];
  return { name: `another team's event beside ${AUTOMATIONS} automations and ${EVENTS} pending events`, goals, notes };
}

async function costOfOne(servers: Servers, world: World, worker: Service): Promise<Result> {
  const team = await crowd(servers, 'one-fires', true, 'task.priority == "urgent"');
  const emit = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 1) {
      await addEvents(servers, world, team, 1);
      await servers.db.raw('notify assent_outbox');
      await drained(servers.db);
    }
  };
  await emit(3);
  await quiet(servers.db);
  const readings = { worker: worker.cpu, postgres: servers.postgresCpu };
  const started = performance.now();
  const busy = await metered(readings, () => emit(COSTED_EVENTS));
  const idle = await metered(readings, () => sleep(performance.now() - started));
  const per = (seconds: number) => (seconds / COSTED_EVENTS) * 1_000;
  const goals: Goal[] = [
    { what: 'CPU of the worker', value: per(busy.cpu.worker - idle.cpu.worker), goal: 30, better: 'less', unit: ' ms' },
    { what: 'CPU of PostgreSQL', value: per(busy.cpu.postgres - idle.cpu.postgres), goal: 10, better: 'less', unit: ' ms' },
  ];
  return { name: `one event matched by ${AUTOMATIONS} automations of which one fires`, goals, notes: [] };
}

/** Cost of one team with the maximum number of automations, and its effect on others. */
export const crowdedSection: Section = async (servers, world) => {
  await servers.startTemporal();
  await servers.db('automations').update({ is_active: false });
  const [api, worker] = [await servers.startApi(), await servers.startWorker()];
  const automation = await createAutomation({ api, world }, [
    { type: 'set_task_status', params: { task_id: '{{event.task.task_id}}', status: 'in_progress' } },
  ]);
  const measure = measureLatency(servers, api, world, automation);
  // Warm-up, because Node still compiles during the first run.
  await measure();
  const results = [await beside(servers, world, worker, measure)];
  await servers.db('automations').update({ is_active: false });
  results.push(await costOfOne(servers, world, worker));
  await servers.db('automations').update({ is_active: false });
  await Promise.all([api.stop(), worker.stop()]);
  return results;
};

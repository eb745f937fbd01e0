import type { Knex } from 'knex';
import { deriveDeliveryId } from '../../api/integrations/webhooks/history/delivery-id.js';
import { run } from '../../db/statement.js';
import { call } from './client.js';
import { DAYS, ENDPOINTS, endpointsStatement, fillStatement, queueStatement } from './deliveries.sql.js';
import { metered } from './process-table.js';
import { seed, type World } from './seed.js';
import type { Servers, Service } from './servers.js';
import { quantile } from './statistics.js';
import { measureThroughput } from './sections/webhooks.js';

const TEAMS = 200;
/** Events of one statement. */
const BATCH = 50_000;
const REQUESTS = 100;
/** Pending deliveries of the endpoint that is deleted. */
const QUEUE = 100_000;
/** Goal of a page, p50 in ms, as for the audit log. */
const PAGE_MS = 15;

/** Teams with endpoints, each with a token; the first has the most deliveries. */
async function createTeams(db: Knex, first: World): Promise<string[]> {
  const teams = [first.teamId];
  for (let n = 1; n < TEAMS; n += 1) {
    const [team] = await db('teams')
      .insert({ name: `Bench ${n}`, created_by: first.userId })
      .returning<{ team_id: string }[]>('team_id');
    teams.push((team as { team_id: string }).team_id);
  }
  for (const teamId of teams) await run(db, endpointsStatement, [teamId, first.userId]);
  return teams;
}

async function fill(db: Knex, teams: string[], from: number, to: number): Promise<void> {
  for (let event = from / ENDPOINTS; event < to / ENDPOINTS; event += BATCH)
    await run(db, fillStatement, [event, Math.min(event + BATCH, to / ENDPOINTS), to / ENDPOINTS, teams]);
  await db.raw('vacuum (analyze) webhook_events, webhook_deliveries');
  await db.raw('checkpoint');
}

async function measurePage(servers: Servers, api: Service, world: World, name: string, path: string): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < 10; n += 1) await call(api, world, 'GET', path);
  const { cpu } = await metered({ postgres: servers.postgresCpu, api: api.cpu }, async () => {
    for (let n = 0; n < REQUESTS; n += 1) {
      const started = performance.now();
      await call(api, world, 'GET', path);
      times.push(performance.now() - started);
    }
  });
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  const cost = [cpu.api, cpu.postgres].map((seconds) => ((seconds / REQUESTS) * 1_000).toFixed(2)).join(' + ');
  console.log(
    `  ${name.padEnd(34)} p50 ${p50.toFixed(1).padStart(6)} ms  p99 ${p99.toFixed(1).padStart(6)} ms  ${cost} CPU-ms  ${p50 <= PAGE_MS ? 'met' : 'MISSED'} (goal ${PAGE_MS})`,
  );
}

async function measureReads(servers: Servers, api: Service, world: World): Promise<void> {
  const { rows } = await servers.db.raw<{ rows: { webhook_id: string; event_id: string }[] }>(
    /* sql */ `
    select d.webhook_id, d.event_id from webhook_deliveries d join webhooks w using (webhook_id)
    where w.team_id = ? and d.event_id < uuid_at(now() - interval '20 days') order by d.event_id desc limit 1`,
    [world.teamId],
  );
  const [old] = rows;
  if (!old) throw new Error('The first team has no delivery that is 20 days old');
  const path = `/api/webhooks/${old.webhook_id}/deliveries`;
  await measurePage(servers, api, world, 'newest 50 deliveries', `${path}?limit=50`);
  await measurePage(servers, api, world, 'newest 50 failed ones', `${path}?limit=50&status=failed`);
  await measurePage(servers, api, world, '50 before one 20 days ago', `${path}?limit=50&before=${old.event_id}`);
  await measurePage(
    servers,
    api,
    world,
    'one delivery, 20 days old',
    `${path}/${deriveDeliveryId(old.webhook_id, old.event_id)}`,
  );
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await work();
  console.log(`  ${name.padEnd(34)} ${(performance.now() - started).toFixed(0).padStart(6)} ms`);
}

/** What ends deliveries: the end of a day, and of an endpoint. */
async function measureEnds({ db }: Servers, api: Service, world: World): Promise<void> {
  for (const table of ['webhook_events', 'webhook_deliveries'])
    await timed(`drop the oldest day of ${table}`, () =>
      db.raw(`select drop_partitions_before(?, now() - make_interval(days => ${DAYS - 2}))`, [table]),
    );
  const [endpoint] = await db('webhooks').where({ team_id: world.teamId }).limit(1).pluck<string[]>('webhook_id');
  await run(db, queueStatement, [endpoint, QUEUE]);
  await timed(`delete an endpoint with ${QUEUE.toLocaleString('en')} pending`, () =>
    call(api, world, 'DELETE', `/api/webhooks/${endpoint}`),
  );
}

/**
 * Measures reads of deliveries, their throughput and what ends them: with a tenth of a percent of the deliveries, then with all, so that the
 * difference is what growth costs.
 */
export async function measureDeliveries(servers: Servers, deliveries: number): Promise<void> {
  await servers.start();
  await servers.startTemporal();
  const { db } = servers;
  for (const table of ['webhook_events', 'webhook_deliveries'])
    await db.raw(
      `select make_partition(?, date_trunc('day', now() at time zone 'UTC') - make_interval(days => n), 0) from generate_series(1, ${DAYS}) n`,
      [table],
    );
  const world = await seed(db, 1_000);
  const teams = await createTeams(db, world);
  let filled = 0;
  for (const size of [Math.max(10_000, deliveries / 1_000), deliveries]) {
    await fill(db, teams, filled, size);
    filled = size;
    console.log(`\n${size.toLocaleString('en')} deliveries of ${TEAMS} teams over ${DAYS} days`);
    const api = await servers.startApi();
    await measureReads(servers, api, world);
    await api.stop();
    const { name, goals, notes } = await measureThroughput(servers, world);
    console.log(`  ${name}: ${goals.map(({ what, value, unit }) => `${what} ${value.toFixed(0)}${unit}`).join(', ')}`);
    for (const note of notes ?? []) console.log(`    ${note}`);
  }
  await measureEnds(servers, await servers.startApi(), world);
}

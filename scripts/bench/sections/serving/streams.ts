import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { computeHash, PAT_PREFIX } from '../../../../api/identity/auth/authenticate.js';
import { call } from '../../client.js';
import { metered, readResident } from '../../process-table.js';
import type { Goal, Section } from '../../report.js';
import type { World } from '../../seed.js';
import type { ApiService, Servers } from '../../servers.js';
import { quantile } from '../../statistics.js';
import { withSides } from '../requests-section.js';

const STREAMS = 1_000;
const TEAMS = 20;
/** Streams of one user. */
const OF_USER = 10;
const WRITES = 200;
/** Time between two writes, ms. */
const PAUSE_MS = 100;
/** Time over which silent streams are measured, ms. */
const IDLE_MS = 30_000;

const below = (what: string, value: number, goal: number, unit = ' ms'): Goal => ({ what, value, goal, better: 'less', unit });

/** Programs that follow changes, and when each task was heard of. */
class Followers {
  private readonly over = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  private readonly requests: ClientRequest[] = [];
  readonly arrivals = new Map<string, number[]>();

  constructor(private readonly port: number) {}

  async follow(token: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const request = get({ port: this.port, path: '/api/events', headers, agent: this.over });
    this.requests.push(request);
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`GET /api/events answered ${response.statusCode}`);
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('data', (text: string) => {
      const at = performance.now();
      for (const [, id = ''] of text.matchAll(/"entity_id":"([^"]+)"/g))
        this.arrivals.set(id, [...(this.arrivals.get(id) ?? []), at]);
    });
  }

  stop(): void {
    for (const request of this.requests) request.destroy();
    this.over.destroy();
  }
}

/** A member of a team; returns their token. */
async function hire({ db }: Servers, teamId: string): Promise<string> {
  const [userId, token] = [uuidv7(), `${PAT_PREFIX}${randomBytes(32).toString('base64url')}`];
  const name = `s${randomBytes(5).toString('hex')}`;
  const avatar = 'https://bench.test/a.png';
  await db('users').insert({ user_id: userId, email: `${name}@bench.test`, name, username: name, display_name: name, avatar });
  await db('memberships').insert({ team_id: teamId, user_id: userId, role: 'member' });
  await db('personal_access_tokens').insert({
    user_id: userId,
    name,
    scopes: ['tasks:read'],
    token_hash: computeHash(token),
    prefix: token.slice(0, 12),
  });
  return token;
}

/** Opens all streams; those of the first team are of the world's. Returns how many those are. */
async function fill(servers: Servers, world: World, followers: Followers): Promise<number> {
  for (let team = 0; team < TEAMS; team += 1) {
    const teamId = team === 0 ? world.teamId : uuidv7();
    if (team > 0) await servers.db('teams').insert({ team_id: teamId, name: 'Bench', created_by: world.userId });
    for (let user = 0; user < STREAMS / TEAMS / OF_USER; user += 1) {
      const token = await hire(servers, teamId);
      await Promise.all(Array.from({ length: OF_USER }, () => followers.follow(token)));
    }
  }
  return STREAMS / TEAMS;
}

/** Times from sending a write to each of the streams that hear of it, ms. */
async function measureDelays(api: ApiService, world: World, followers: Followers, listeners: number): Promise<number[]> {
  const delays: number[] = [];
  for (let nth = 0; nth < WRITES; nth += 1) {
    const task_id = uuidv7();
    const from = performance.now();
    await call(api, world, 'POST', '/api/tasks', { task_id, title: 'Check valve', project_id: world.projects[0] });
    await sleep(PAUSE_MS);
    const deadline = performance.now() + 10_000;
    while ((followers.arrivals.get(task_id)?.length ?? 0) < listeners && performance.now() < deadline) await sleep(5);
    const arrived = followers.arrivals.get(task_id) ?? [];
    if (arrived.length !== listeners) throw new Error(`${arrived.length} of ${listeners} streams got the change, each must once`);
    delays.push(...arrived.map((at) => at - from));
  }
  return delays;
}

/** 1,000 streams of changes: their memory, their CPU while nothing happens, and the time from a write to its followers. */
export const streamsSection: Section = (servers, world) =>
  withSides(servers, async ({ product: api }) => {
    for (let nth = 0; nth < 50; nth += 1)
      await call(api, world, 'POST', '/api/tasks', { title: 'Warm up', project_id: world.projects[0] });
    const followers = new Followers(api.port);
    const before = readResident(api.pid);
    const listeners = await fill(servers, world, followers);
    await sleep(5_000);
    const { cpu } = await metered({ api: api.cpu, postgres: servers.postgresCpu }, () => sleep(IDLE_MS));
    const grown = (readResident(api.pid) - before) / 1024 / 1024;
    const delays = await measureDelays(api, world, followers, listeners);
    followers.stop();
    const share = (seconds: number) => (100 * seconds * 1_000) / IDLE_MS;
    return [
      {
        name: `${STREAMS.toLocaleString('en')} streams of changes of ${TEAMS} teams`,
        goals: [
          below('memory of the API grown by', grown, 60, ' MB'),
          below('CPU of a core, silent, API', share(cpu.api), 5, '%'),
        ],
        notes: [`API ${share(cpu.api).toFixed(1)}%, PostgreSQL ${share(cpu.postgres).toFixed(1)}% of a core`],
      },
      {
        name: `from sending a write to each of ${listeners} streams, beside the others`,
        goals: [below('p50', quantile(delays, 0.5), 100), below('p99', quantile(delays, 0.99), 250)],
        notes: [`${WRITES} writes, ${delays.length} arrivals; the time of the write itself is part of it`],
      },
    ];
  });

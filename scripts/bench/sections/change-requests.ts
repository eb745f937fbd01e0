import { randomBytes, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { computeHash, PAT_PREFIX } from '../../../api/identity/auth/authenticate.js';
import { call } from '../client.js';
import { addPending, dropPending, gatedAutomation } from '../pending.js';
import { metered, readResident } from '../process-table.js';
import { quiet } from '../quiet.js';
import type { Goal, Section } from '../report.js';
import { bearer, send } from '../send.js';
import type { World } from '../seed.js';
import type { ApiService, Servers, Service } from '../servers.js';
import { quantile } from '../statistics.js';
import { withSides } from './requests-section.js';

const COUNT = 300;
const WARM_UP = 30;
const POLLS = 1_000;
const TEAMS = 4;
/** Waits of one token, and seconds of one wait. */
const OF_TOKEN = 10;
const WAIT_SECONDS = 25;
/** Time over which what waits is measured, ms: two waits of each. */
const IDLE_MS = 50_000;

type Caller = World & { token: string };
interface Asked {
  request_id: string;
  request_hash: string;
}

const below = (what: string, value: number, goal: number, unit = ' ms'): Goal => ({ what, value, goal, better: 'less', unit });

/** A person of the team with a token, who acts as the benchmark's user does. */
async function hire({ db }: Servers, world: World, role: string, scopes: string[]): Promise<Caller> {
  const [userId, token] = [uuidv7(), `${PAT_PREFIX}${randomBytes(32).toString('base64url')}`];
  const name = `b${randomBytes(5).toString('hex')}`;
  const avatar = 'https://bench.test/a.png';
  await db('users').insert({ user_id: userId, email: `${name}@bench.test`, name, username: name, display_name: name, avatar });
  await db('memberships').insert({ team_id: world.teamId, user_id: userId, role });
  const hash = computeHash(token);
  await db('personal_access_tokens').insert({ user_id: userId, name, scopes, token_hash: hash, prefix: token.slice(0, 12) });
  return { ...world, userId, token };
}
const hireBoth = async (servers: Servers, world: World): Promise<[Caller, Caller]> => [
  await hire(servers, world, 'member', ['requests:create', 'requests:read']),
  await hire(servers, world, 'manager', ['approvals:decide', 'requests:read']),
];

async function ask(api: Service, asker: Caller): Promise<Asked> {
  const operation = {
    system: 'payments',
    name: 'deploy',
    target: randomUUID(),
    arguments: { version: '4.2', hosts: ['a', 'b'] },
  };
  const body = { team_id: asker.teamId, title: 'Release 4.2', reason: 'The fix of the sign-in', operation };
  return (await call(api, asker, 'POST', '/api/change-requests', body)).body as unknown as Asked;
}
const about = (api: Service, caller: Caller, { request_id, request_hash }: Asked, verb: string, body: object = {}) =>
  call(api, caller, 'POST', `/api/change-requests/${request_id}/${verb}`, { request_hash, ...body });

/** Times of each kind of work, ms, each beside what it is compared with. */
class Times {
  private readonly of = new Map<string, number[]>();

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    const result = await work();
    this.of.set(name, [...(this.of.get(name) ?? []), performance.now() - from]);
    return result;
  }

  get(name: string, q: number): number {
    return quantile((this.of.get(name) ?? []).slice(WARM_UP), q);
  }
}

/** Asking, approving and using, one after the other, each beside what a team does otherwise: a task, a gate, a patch. */
export const changeRequestsSection: Section = (servers, world) =>
  withSides(servers, async ({ product: api }) => {
    const [asker, approver] = await hireBoth(servers, world);
    const automation = await gatedAutomation(servers, world);
    const runs = await addPending(servers, world, automation, COUNT);
    await servers.db.raw('vacuum (analyze) automation_runs, run_actions, gates, change_requests, change_request_decisions');
    const times = new Times();
    for (let nth = 0; nth < COUNT; nth += 1) {
      const task = { title: `Check valve ${nth}`, project_id: world.projects[nth % world.projects.length] };
      await times.take('a task', () => call(api, world, 'POST', '/api/tasks', task));
      const asked = await times.take('creating', () => ask(api, asker));
      await times.take('a gate', () => call(api, world, 'POST', `/api/automations/runs/${runs[nth]}/approve`, {}));
      await times.take('approving', () => about(api, approver, asked, 'approve'));
      const path = `/api/tasks/${world.tasks[70_000 + nth]}`;
      await times.take('a patch', () => call(api, world, 'PATCH', path, { estimated_hours: (nth % 900) + 0.5 }));
      await times.take('redeeming', () => about(api, asker, asked, 'redeem', { redemption_id: randomUUID() }));
      await times.take('reporting', () =>
        call(api, asker, 'POST', `/api/change-requests/${asked.request_id}/outcome`, { status: 'succeeded' }),
      );
    }
    await dropPending(servers, automation);
    const ratio = (name: string, base: string, goal: number) =>
      below(`${name}, times ${base}`, times.get(name, 0.5) / times.get(base, 0.5), goal, '');
    const names = ['a task', 'creating', 'a gate', 'approving', 'a patch', 'redeeming', 'reporting'];
    return [
      {
        name: `${COUNT} change requests, one after the other`,
        goals: [ratio('creating', 'a task', 1.5), ratio('approving', 'a gate', 1.2), ratio('redeeming', 'a patch', 1.2)],
        notes: names.map(
          (name) => `${name.padEnd(10)} p50 ${times.get(name, 0.5).toFixed(2)} ms  p99 ${times.get(name, 0.99).toFixed(2)} ms`,
        ),
      },
    ];
  });

/** Programs that wait for a decision without a pause, until they are stopped. */
class Waiting {
  private readonly over = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  private isOver = false;

  constructor(private readonly port: number) {}

  /** One wait for the first decision. */
  once(caller: Caller, { request_id }: Asked): ReturnType<typeof send> {
    return send(
      this.port,
      `/api/change-requests/${request_id}?wait=${WAIT_SECONDS}&seen=1`,
      bearer(caller),
      undefined,
      this.over,
    );
  }

  start(caller: Caller, asked: Asked, delayMs: number): void {
    void (async () => {
      await sleep(delayMs);
      while (!this.isOver) {
        const answered = await this.once(caller, asked).catch(() => undefined);
        if (answered?.status !== 200) await sleep(1_000);
      }
    })();
  }

  stop(): void {
    this.isOver = true;
    this.over.destroy();
  }
}

/** Teams whose programs wait, with one request for each token. */
async function fill(servers: Servers, api: ApiService, world: World, waiting: Waiting): Promise<void> {
  let nth = 0;
  for (let team = 0; team < TEAMS; team += 1) {
    const place = { ...world, teamId: uuidv7() };
    await servers.db('teams').insert({ team_id: place.teamId, name: 'Bench', created_by: world.userId });
    for (let token = 0; token < POLLS / TEAMS / OF_TOKEN; token += 1) {
      const asker = await hire(servers, place, 'member', ['requests:create', 'requests:read']);
      const asked = await ask(api, asker);
      for (let count = 0; count < OF_TOKEN; count += 1, nth += 1)
        waiting.start(asker, asked, (nth / POLLS) * WAIT_SECONDS * 1_000);
    }
  }
  await sleep((WAIT_SECONDS + 5) * 1_000);
}

/** 1,000 long polls, and the time from a yes to the answer of one that waits for it. */
export const longPollsSection: Section = (servers, world) =>
  withSides(servers, async ({ product: api }) => {
    const [asker, approver] = await hireBoth(servers, world);
    for (let nth = 0; nth < WARM_UP; nth += 1) await about(api, approver, await ask(api, asker), 'approve');
    const waiting = new Waiting(api.port);
    const before = readResident(api.pid);
    await fill(servers, api, world, waiting);
    const { cpu } = await metered({ api: api.cpu, postgres: servers.postgresCpu }, () => sleep(IDLE_MS));
    const grown = (readResident(api.pid) - before) / 1024 / 1024;
    const times: number[] = [];
    for (let nth = 0; nth < COUNT; nth += 1) {
      const asked = await ask(api, asker);
      let at = 0;
      const answered = waiting.once(asker, asked).then(() => (at = performance.now()));
      // It waits before the yes comes.
      await sleep(30);
      const from = performance.now();
      await about(api, approver, asked, 'approve');
      await answered;
      times.push(at - from);
      await about(api, asker, asked, 'redeem', { redemption_id: randomUUID() });
    }
    waiting.stop();
    const share = (seconds: number) => (100 * seconds * 1_000) / IDLE_MS;
    return [
      {
        name: `${POLLS.toLocaleString('en')} long polls of ${TEAMS} teams that wait for people`,
        goals: [below('memory of the API grown by', grown, 40, ' MB'), below('CPU of a core, API', share(cpu.api), 3, '%')],
        notes: [`API ${share(cpu.api).toFixed(1)}%, PostgreSQL ${share(cpu.postgres).toFixed(1)}% of a core`],
      },
      {
        name: `from the yes to the answer of a long poll, beside them`,
        goals: [below('p50', quantile(times, 0.5), 20), below('p99', quantile(times, 0.99), 150)],
        notes: [`${COUNT} requests; the time begins when the yes is sent`],
      },
    ];
  });

/** What a request costs Temporal and the worker, from the question to the report. */
export const requestWorkflowsSection: Section = async (servers, world) => {
  await servers.startTemporal();
  const [api, worker] = [await servers.startApi(), await servers.startWorker()];
  const [asker, approver] = await hireBoth(servers, world);
  const play = async () => {
    const asked = await ask(api, asker);
    await about(api, approver, asked, 'approve');
    await about(api, asker, asked, 'redeem', { redemption_id: randomUUID() });
    await call(api, asker, 'POST', `/api/change-requests/${asked.request_id}/outcome`, { status: 'succeeded' });
    // A person takes longer than the relay: each step is a wake of its own.
    await quiet(servers.db);
  };
  for (let nth = 0; nth < WARM_UP; nth += 1) await play();
  const readings = { temporal: servers.temporalCpu, worker: worker.cpu, api: api.cpu, postgres: servers.postgresCpu };
  const idle = await metered(readings, () => sleep(10_000));
  const from = performance.now();
  const { cpu } = await metered(readings, async () => {
    for (let nth = 0; nth < COUNT; nth += 1) await play();
    await sleep(2_000);
  });
  const seconds = (performance.now() - from) / 1_000;
  await Promise.all([api.stop(), worker.stop()]);
  const each = (name: keyof typeof cpu) => ((cpu[name] - (idle.cpu[name] / 10) * seconds) / COUNT) * 1_000;
  const names = Object.keys(cpu) as (keyof typeof cpu)[];
  return [
    {
      name: 'a change request with its workflow, from the question to the report',
      goals: [below('CPU ms of Temporal', each('temporal'), 20, '')],
      notes: [`CPU ms each, beyond idle: ${names.map((name) => `${name} ${each(name).toFixed(1)}`).join(', ')}`],
    },
  ];
};

import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { call } from '../../client.js';
import { addPending, dropPending, gatedAutomation } from '../../pending.js';
import { metered, readResident } from '../../process-table.js';
import { quiet } from '../../quiet.js';
import type { Section } from '../../report.js';
import { bearer, send } from '../../send.js';
import type { World } from '../../seed.js';
import type { ApiService, Servers } from '../../servers.js';
import { quantile } from '../../statistics.js';
import { withSides } from '../requests-section.js';
import { about, ask, type Asked, below, type Caller, hire, hireBoth, Times, WARM_UP } from './people.js';

const COUNT = 300;
const POLLS = 1_000;
const TEAMS = 4;
/** Waits of one token, and seconds of one wait. */
const OF_TOKEN = 10;
const WAIT_SECONDS = 25;
/** Time over which what waits is measured, ms: two waits of each. */
const IDLE_MS = 50_000;

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
    return [
      {
        name: `${COUNT} change requests, one after the other`,
        goals: [ratio('creating', 'a task', 1.5), ratio('approving', 'a gate', 1.2), ratio('redeeming', 'a patch', 1.2)],
        notes: times.describe(),
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

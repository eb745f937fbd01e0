import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import { hashOfToken, RUNNER_PREFIX } from '../../../api/automation/runners/registration/tokens.js';
import { metered, readResident } from '../process-table.js';
import type { Section } from '../report.js';
import type { World } from '../seed.js';
import { bearer, expect, send } from '../send.js';
import type { ApiService, Servers } from '../servers.js';
import { quantile } from '../statistics.js';
import { withSides } from './requests-section.js';

const TEAMS = 4;
const RUNNERS = 1_000;
/** Time of one claim, seconds; the runners begin spread over it. */
const WAIT_SECONDS = 25;
/** Time over which idle runners are measured, ms: two claims of each. */
const IDLE_MS = 50_000;
const JOBS = 200;

interface ClaimResponse {
  status: number;
  at: number;
  body: string;
}

/** Teams of the caller with 1,000 runners. Returns their tokens by team. */
async function buildRunners({ db }: Servers, { userId }: World): Promise<{ team_id: string; tokens: string[] }[]> {
  const teams = Array.from({ length: TEAMS }, () => ({
    team_id: uuidv7(),
    tokens: Array.from({ length: RUNNERS / TEAMS }, () => `${RUNNER_PREFIX}${randomBytes(32).toString('base64url')}`),
  }));
  for (const { team_id, tokens } of teams) {
    await db('teams').insert({ team_id, name: 'Runners', created_by: userId });
    await db('memberships').insert({ team_id, user_id: userId, role: 'admin' });
    await db('runners').insert(
      tokens.map((token, n) => ({
        team_id,
        name: `runner ${n}`,
        labels: [],
        version: '1',
        token_hash: hashOfToken(token),
        created_by: userId,
      })),
    );
  }
  return teams;
}

/** Runners that ask for jobs without a pause, until they are stopped. */
class IdleRunners {
  private readonly over = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  private isOver = false;
  private readonly awaited = new Map<string, (claimed: ClaimResponse & { token: string }) => void>();

  constructor(private readonly port: number) {}

  /** Waits for the claim of a job. */
  next(jobOfTeam: string): Promise<ClaimResponse & { token: string }> {
    return new Promise((resolve) => this.awaited.set(jobOfTeam, resolve));
  }

  start(teamId: string, token: string, delayMs: number): void {
    void (async () => {
      await sleep(delayMs);
      while (!this.isOver) {
        const claimed = await this.claim(token).catch(() => undefined);
        if (claimed?.status === 200) this.awaited.get(teamId)?.({ ...claimed, token });
        else if (claimed?.status !== 204) await sleep(1_000);
        // The job is completed before the runner asks again.
        if (claimed?.status === 200) await sleep(500);
      }
    })();
  }

  private claim(token: string): Promise<ClaimResponse> {
    const body = JSON.stringify({ wait_seconds: WAIT_SECONDS });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Content-Length': body.length };
    return new Promise((resolve, reject) => {
      const path = '/api/runners/claim';
      const sent = request({ host: '127.0.0.1', port: this.port, path, method: 'POST', headers, agent: this.over }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, at: performance.now(), body: text }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  stop(): void {
    this.isOver = true;
    this.over.destroy();
  }
}

/** Queues jobs one after the other and completes them. Returns the times from the request to the claim's answer, ms. */
async function claimTimes(product: ApiService, world: World, teamIds: string[], runners: IdleRunners): Promise<number[]> {
  const over = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { ...bearer(world), 'Content-Type': 'application/json' };
  const times: number[] = [];
  for (let n = 0; n < JOBS; n += 1) {
    const team_id = teamIds[n % teamIds.length] as string;
    const claim = runners.next(team_id);
    const started = performance.now();
    const job = JSON.stringify({ team_id, command: 'true', labels: [] });
    await expect(201, send(product.port, '/api/runners/jobs', headers, job, over));
    const { at, body, token } = await claim;
    times.push(at - started);
    const { job_id } = JSON.parse(body) as { job_id: string };
    const own = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const end = JSON.stringify({ status: 'succeeded', exit_code: 0 });
    await expect(200, send(product.port, `/api/runners/jobs/${job_id}/complete`, own, end, over));
  }
  over.destroy();
  return times;
}

/** 1,000 runners that wait for jobs, then 200 jobs. */
export const runnersSection: Section = (servers, world) =>
  withSides(servers, async ({ product }) => {
    const teams = await buildRunners(servers, world);
    await expect(200, send(product.port, '/api/auth/me', bearer(world)));
    const before = readResident(product.pid);
    const runners = new IdleRunners(product.port);
    const all = teams.flatMap(({ team_id, tokens }) => tokens.map((token) => ({ team_id, token })));
    all.forEach(({ team_id, token }, n) => runners.start(team_id, token, (n / RUNNERS) * WAIT_SECONDS * 1_000));
    await sleep((WAIT_SECONDS + 5) * 1_000);
    const { cpu } = await metered({ api: product.cpu, postgres: servers.postgresCpu }, () => sleep(IDLE_MS));
    const grown = (readResident(product.pid) - before) / 1024 / 1024;
    const teamIds = teams.map(({ team_id }) => team_id);
    const times = await claimTimes(product, world, teamIds, runners);
    runners.stop();
    const share = (seconds: number) => (100 * seconds * 1_000) / IDLE_MS;
    return [
      {
        name: `${RUNNERS.toLocaleString('en')} idle runners of ${TEAMS} teams that wait for jobs`,
        goals: [
          { what: 'CPU of a core, API and PostgreSQL', value: share(cpu.api + cpu.postgres), goal: 5, better: 'less', unit: '%' },
          { what: 'memory of the API grown by', value: grown, goal: 100, better: 'less', unit: ' MB' },
        ],
        notes: [`API ${share(cpu.api).toFixed(1)}%, PostgreSQL ${share(cpu.postgres).toFixed(1)}% of a core`],
      },
      {
        name: `from POST /api/runners/jobs to the answer of the claim, ${RUNNERS.toLocaleString('en')} runners waiting`,
        goals: [{ what: 'p50', value: quantile(times, 0.5), goal: 50, better: 'less', unit: ' ms' }],
        notes: [`p99 ${quantile(times, 0.99).toFixed(0)} ms of ${JOBS} jobs`],
      },
    ];
  });

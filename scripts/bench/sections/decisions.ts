import { requestBytes, type Source } from '../load.js';
import { addPending, dropPending, gatedAutomation } from '../pending.js';
import type { Goal, Result, Section } from '../report.js';
import { withSides } from './requests-section.js';
import { computeFigures, measureRound, type Round } from '../rounds.js';
import type { World } from '../seed.js';
import type { ApiService, Servers } from '../servers.js';
import { median, quantile } from '../statistics.js';

const PENDING = 10_000;
const WARM_UP_SECONDS = 3;
/** More than a round can use up. */
const STOCK = 8_000;

const buildHeaders = ({ token }: World) => ({ Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' });

/** The lists of pending approvals, sequentially, without a worker: the one of gates, and the joint one with what each does. */
export const approvalsListSection: Section = (servers, world, { seconds, rounds }) =>
  withSides(servers, async ({ product }) => {
    const automation = await gatedAutomation(servers, world);
    await addPending(servers, world, automation, PENDING);
    await servers.db.raw('vacuum (analyze) automation_runs, run_actions, gates, automations, automation_versions');
    const results: Result[] = [];
    for (const path of ['/api/automations/approvals', '/api/approvals']) {
      const bytes = requestBytes('GET', path, buildHeaders(world));
      const source: Source = { expect: 200, next: () => bytes };
      await measureRound(servers, product, source, 1, WARM_UP_SECONDS);
      const list = computeFigures([await measureRound(servers, product, source, 1, seconds * rounds)]);
      if (list.errors > 0) throw new Error(`${list.errors} answers were not the expected ones`);
      const cpu = `CPU ms: ${list.cpuApp.toFixed(2)} API, ${list.cpuPostgres.toFixed(2)} PostgreSQL`;
      const goal = (what: string, value: number): Goal => ({ what, value, goal: 10, better: 'less', unit: ' ms' });
      results.push({
        name: `GET ${path} at ${PENDING.toLocaleString('en')} pending, one connection`,
        goals: [goal('p50', list.p50), goal('p99', list.p99)],
        notes: [`${list.requests} requests  ${cpu}`],
      });
    }
    await dropPending(servers, automation);
    return results;
  });

/** Consumes waiting gates from a stock that is refilled between rounds. */
class Decisions {
  private readonly stock: string[] = [];

  constructor(
    private readonly servers: Servers,
    private readonly world: World,
    private readonly automation: string,
  ) {}

  async fill(): Promise<void> {
    const { servers, world, automation, stock } = this;
    if (stock.length < STOCK) stock.push(...(await addPending(servers, world, automation, STOCK)));
  }

  source(verb: 'approve' | 'reject'): Source {
    const [headers, body] = [buildHeaders(this.world), Buffer.from('{}')];
    const next = () => {
      const run = this.stock.pop();
      if (run === undefined) throw new Error('No gate is left to decide');
      return requestBytes('POST', `/api/automations/runs/${run}/${verb}`, headers, body);
    };
    return { expect: 200, next };
  }
}

/** A plain change of any task, without its version, which other sections have increased. */
function plainPatch(world: World): Source {
  const headers = buildHeaders(world);
  let turn = 0;
  const next = () => {
    const task = world.tasks[Math.floor(Math.random() * world.tasks.length)] as string;
    turn += 1;
    const fields = { title: `Check valve ${turn}`, priority: turn % 2 ? 'high' : 'low' };
    return requestBytes('PATCH', `/api/tasks/${task}`, headers, Buffer.from(JSON.stringify(fields)));
  };
  return { expect: 200, next };
}

type Side = 'patch' | 'approve' | 'reject';
interface Bench {
  servers: Servers;
  api: ApiService;
  decisions: Decisions;
  sources: Record<Side, Source>;
}

/** Measures the three alternately; each decision's p50 is relative to the adjacent patch. */
async function byTurns({ servers, api, decisions, sources }: Bench, connections: number, seconds: number, rounds: number) {
  const measured: Record<Side, Round[]> = { patch: [], approve: [], reject: [] };
  for (let i = 0; i < rounds; i += 1) {
    for (const side of Object.keys(measured) as Side[]) {
      await decisions.fill();
      measured[side].push(await measureRound(servers, api, sources[side], connections, seconds));
    }
  }
  const p50 = ({ latencies }: Round) => quantile(latencies, 0.5);
  const goal = (side: Side): Goal => ({
    what: `times the patch’s p50: ${side}`,
    value: median(measured[side].map((round, i) => p50(round) / p50(measured.patch[i] as Round))),
    goal: 2,
    better: 'less',
    unit: '',
  });
  const note = (side: Side): string => {
    const of = computeFigures(measured[side]);
    if (of.errors > 0) throw new Error(`${of.errors} answers to ${side} were not the expected ones`);
    return (
      `${side.padEnd(8)}p50 ${of.p50.toFixed(2)} ms  p99 ${of.p99.toFixed(2)} ms  ${of.rate.toFixed(0)}/s  ` +
      `CPU ms: ${of.cpuApp.toFixed(2)} API, ${of.cpuPostgres.toFixed(2)} PostgreSQL`
    );
  };
  const name = `a decision beside a plain PATCH /api/tasks/:id, ${connections === 1 ? 'one connection' : `${connections} connections`}`;
  return { name, goals: [goal('approve'), goal('reject')], notes: [note('patch'), note('approve'), note('reject')] };
}

/** Approve and reject compared with a plain task change, sequentially and concurrently, without a worker. */
export const decisionSection: Section = (servers, world, { connections, seconds, rounds }) =>
  withSides(servers, async ({ product: api }) => {
    const automation = await gatedAutomation(servers, world);
    const decisions = new Decisions(servers, world, automation);
    const sources = {
      patch: plainPatch(world),
      approve: decisions.source('approve'),
      reject: decisions.source('reject'),
    };
    await decisions.fill();
    await servers.db.raw('vacuum (analyze) automation_runs, run_actions, gates, automations, automation_versions');
    for (const source of Object.values(sources)) {
      await decisions.fill();
      await measureRound(servers, api, source, connections, WARM_UP_SECONDS);
    }
    const results: Result[] = [];
    for (const count of [1, connections])
      results.push(await byTurns({ servers, api, decisions, sources }, count, seconds, rounds));
    await dropPending(servers, automation);
    return results;
  });

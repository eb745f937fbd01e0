import { drive, type Load, type Source } from './load.js';
import { metered } from './process-table.js';
import { drained } from './quiet.js';
import type { Servers, Service } from './servers.js';
import { median, quantile, sum } from './statistics.js';

/** Results of one side, over all rounds. */
export interface Figures {
  requests: number;
  errors: number;
  /** Median of the rounds, per second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** CPU seconds per 1,000 requests, from the process tables. */
  cpuApp: number;
  cpuPostgres: number;
}

/** Product and baseline, measured alternately. */
export interface Comparison {
  product: Figures;
  floor: Figures;
  /** Median of the rate ratios of the rounds. */
  ratio: number;
  /** Ratio of CPU per request, application and PostgreSQL together. */
  cpuRatio: number;
}

export interface Round extends Load {
  app: number;
  postgres: number;
}

export interface LoadOptions {
  connections: number;
  seconds: number;
  rounds: number;
  /** Number of runs paused at a gate, for that section. */
  paused: number;
}

/**
 * Node compiles hot code while it runs; until then a request costs up to twice as much, for longer the more code there is. A side
 * is warm after this many responses, or after a time limit if it is slow.
 */
const WARM_UP_ANSWERS = 12_000;
const WARM_UP_SECONDS = 12;

export const computeFigures = (rounds: Round[]): Figures => {
  const latencies = rounds.flatMap((round) => round.latencies);
  const requests = sum(rounds.map((round) => round.count));
  const per1000 = (of: 'app' | 'postgres') => (sum(rounds.map((round) => round[of])) / requests) * 1_000;
  return {
    requests,
    errors: sum(rounds.map((round) => round.errors)),
    rate: median(rounds.map((round) => round.count / round.seconds)),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuApp: per1000('app'),
    cpuPostgres: per1000('postgres'),
  };
};

const cpuSum = ({ cpuApp, cpuPostgres }: Figures): number => cpuApp + cpuPostgres;

/** A product with its worker: the work that a request causes there counts as the request's own. */
export interface FullProduct extends Service {
  worker: Service;
}

/**
 * Runs one round of load on API and worker until all caused work is done: events processed, audit entries sealed. Includes the time
 * until then and the worker's CPU, idle CPU too.
 */
async function measureFullRound(
  servers: Servers,
  { port, cpu, worker }: FullProduct,
  source: Source,
  connections: number,
  seconds: number,
): Promise<Round> {
  const readings = { app: () => cpu() + worker.cpu(), postgres: servers.postgresCpu };
  const started = performance.now();
  const { result, cpu: spent } = await metered(readings, async () => {
    const load = await drive(port, connections, seconds, source);
    await drained(servers.db);
    return load;
  });
  return { ...result, seconds: (performance.now() - started) / 1_000, ...spent };
}

/**
 * Runs the worker for the product only. It is stopped while the baseline is measured, whose events are deleted before it resumes.
 */
async function withoutWorker(servers: Servers, worker: Service, work: () => Promise<Round>): Promise<Round> {
  process.kill(worker.pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    await servers.db.raw('truncate outbox');
    process.kill(worker.pid, 'SIGCONT');
  }
}

/** Runs one round of load on one service and measures its CPU. */
export async function measureRound(
  servers: Servers,
  service: Service,
  source: Source,
  connections: number,
  seconds: number,
): Promise<Round> {
  const readings = { app: service.cpu, postgres: servers.postgresCpu };
  const { result, cpu } = await metered(readings, () => drive(service.port, connections, seconds, source));
  return { ...result, ...cpu };
}

/** Sends requests in rounds of one second until a side is warm. */
export async function warmUp(round: (seconds: number) => Promise<Round>): Promise<void> {
  let answers = 0;
  for (let second = 0; answers < WARM_UP_ANSWERS && second < WARM_UP_SECONDS; second += 1) answers += (await round(1)).count;
}

/**
 * Measures product and baseline alternately (A B A B A B), each after a warm-up, from the same source of requests. A disturbance
 * longer than a round affects both, so the ratio of neighboring rounds is reliable.
 */
export async function compare(
  servers: Servers,
  sides: { product: Service | FullProduct; floor: Service },
  source: Source,
  { connections, seconds, rounds }: LoadOptions,
): Promise<Comparison> {
  const full = 'worker' in sides.product ? sides.product : undefined;
  const plain = (service: Service, length: number) => measureRound(servers, service, source, connections, length);
  const ofProduct = (length: number) =>
    full ? measureFullRound(servers, full, source, connections, length) : plain(sides.product, length);
  const ofFloor = (length: number) => {
    const work = () => plain(sides.floor, length);
    return full ? withoutWorker(servers, full.worker, work) : work();
  };
  await servers.db.raw('checkpoint');
  await warmUp(ofProduct);
  await warmUp(ofFloor);
  const product: Round[] = [];
  const floor: Round[] = [];
  for (let i = 0; i < rounds; i += 1) {
    product.push(await ofProduct(seconds));
    floor.push(await ofFloor(seconds));
  }
  const rate = (one: Round) => one.count / one.seconds;
  const figures = { product: computeFigures(product), floor: computeFigures(floor) };
  return {
    ...figures,
    ratio: median(product.map((one, i) => rate(one) / rate(floor[i] as Round))),
    cpuRatio: cpuSum(figures.product) / cpuSum(figures.floor),
  };
}

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry, type MetricObject } from 'prom-client';
import { openDatabase, SERVING } from '../../../db/connection.js';
import type { Config } from '../../platform/config.js';
import { refuseUnknownSchema } from '../../platform/database/refuse-schema.js';
import type { LogStream } from '../../platform/telemetry/log-stream.js';
import type { Logger } from '../../platform/telemetry/log.js';
import { metrics } from '../../platform/telemetry/metrics.js';
import { readiness } from '../../platform/telemetry/ops-server.js';
import type { Serving } from './serving.js';

/** A process that ends sooner after its start did not work, ms. */
const SETTLED_MS = 10_000;
/** So many in a row that did not work end the service, so that what supervises it notices. */
const MAX_FAILURES = 5;
/** Wait before the first of them is started again, ms; doubled for each further one. */
const RETRY_MS = 250;
/** A process that has not ended by then after it was asked to drain, for which it takes 10 s, is killed, ms. */
const DRAIN_MS = 15_000;
/** Longest wait for the metrics of a process, ms; those of one that hangs or ends are missing. */
const METRICS_MS = 1_000;

/** Interval of the looks at each process, and how long it may take to answer one, ms. */
const LOOK_MS = 5_000;
/** A process that leaves so many in a row unanswered hangs. */
const MAX_UNANSWERED = 4;

/** What the parent asks of a process. */
export type AskChild = { ask: 'drain' } | { ask: 'metrics' | 'life'; nth: number };

/** Processes that serve the API behind one address: one is started again when it ends. */
class Children {
  private readonly listening = new Set<Worker>();
  private failures = 0;
  private draining = false;
  private asked = 0;
  /** Looks in a row that a process has not answered. */
  private readonly unanswered = new WeakMap<Worker, number>();

  constructor(
    private readonly count: number,
    private readonly log: Logger,
    private readonly stdout: LogStream,
  ) {
    // They share the socket. Node's other policy hands each connection over, and one that is on its way to a process that ends hangs for ever.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    // Lines of several processes would mix inside the same pipe.
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  }

  /** Starts all; returns their port. Waits for as many as there are places: one that ends before it listens is replaced. */
  async start(): Promise<number> {
    for (let place = 1; place <= this.count; place += 1) this.fork(place);
    let port = 0;
    while (this.listening.size < this.count) ({ port } = ((await once(cluster, 'listening')) as [Worker, { port: number }])[1]);
    setInterval(() => this.listening.forEach((child) => void this.look(child)), LOOK_MS).unref();
    return port;
  }

  check(): { ok: boolean; alive: number; of: number } {
    return { ok: this.listening.size === this.count, alive: this.listening.size, of: this.count };
  }

  /** Returns the metrics of all processes, each under the label `process`. */
  async collect(): Promise<string> {
    const own = metrics.getMetricsAsJSON();
    const answers = await Promise.all([own, ...[...this.listening].map((child) => this.ask(child, 'metrics', METRICS_MS))]);
    return AggregatorRegistry.aggregate(answers.map((each) => each ?? []) as never).metrics();
  }

  async drain(): Promise<void> {
    this.draining = true;
    // One that has ended is listed until its channel is closed, and would never end again.
    const alive = Object.values(cluster.workers ?? {}).filter((child) => child?.isDead() === false) as Worker[];
    await Promise.all(
      alive.map(async (child) => {
        const ended = once(child, 'exit');
        // One that does not listen yet has nothing to finish, and does not listen to messages.
        if (this.listening.has(child) && child.isConnected()) child.send({ ask: 'drain' } satisfies AskChild);
        else child.process.kill('SIGKILL');
        const killing = setTimeout(() => child.process.kill('SIGKILL'), DRAIN_MS);
        await ended;
        clearTimeout(killing);
      }),
    );
  }

  /** Kills a process that hangs: `/livez` is the parent's, so nothing outside would notice. */
  private async look(child: Worker): Promise<void> {
    const isAlive = (await this.ask(child, 'life', LOOK_MS)) !== undefined;
    const count = isAlive ? 0 : (this.unanswered.get(child) ?? 0) + 1;
    this.unanswered.set(child, count);
    if (count < MAX_UNANSWERED || this.draining || !this.listening.has(child)) return;
    this.log.error({ child: child.process.pid }, 'a process of the API does not answer its parent; killing it');
    child.process.kill('SIGKILL');
  }

  /** Returns the answer of a process, or undefined without one in that time. */
  private async ask(child: Worker, ask: 'metrics' | 'life', ms: number): Promise<MetricObject[] | undefined> {
    const nth = (this.asked += 1);
    return new Promise((resolve) => {
      const end = (answer?: MetricObject[]): void => {
        clearTimeout(timer);
        child.off('message', receive);
        resolve(answer);
      };
      const receive = (answer: { nth?: number; metrics: MetricObject[] }): void => {
        if (answer.nth === nth) end(answer.metrics);
      };
      const timer = setTimeout(end, ms);
      child.on('message', receive);
      child.send({ ask, nth } satisfies AskChild, (error) => error && end());
    });
  }

  private fork(place: number): Worker {
    const child = cluster.fork({ API_PROCESS: String(place) });
    const since = Date.now();
    createInterface({ input: child.process.stdout as NodeJS.ReadableStream, terminal: false }).on('line', (line) =>
      this.stdout.write(`${line}\n`),
    );
    child.once('listening', () => this.listening.add(child));
    child.once('exit', (code, signal) => {
      this.listening.delete(child);
      if (!this.draining) void this.replace(place, Date.now() - since, { child: place, code, signal });
    });
    return child;
  }

  private async replace(place: number, livedMs: number, how: object): Promise<void> {
    this.failures = livedMs < SETTLED_MS ? this.failures + 1 : 0;
    if (this.failures >= MAX_FAILURES) {
      this.log.fatal(how, 'processes of the API end soon after their start: giving up');
      process.exit(1);
    }
    this.log.error({ ...how, lived_ms: livedMs }, 'a process of the API ended; starting another');
    await sleep(RETRY_MS * 2 ** this.failures);
    if (!this.draining) this.fork(place);
  }
}

/**
 * Serves the API in API_PROCESSES processes that share one address, and watches them. Ends the process if their code cannot run on
 * the schema of the database, or if they keep ending.
 */
export async function serveByChildren(config: Config, log: Logger, stdout: LogStream): Promise<Serving> {
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 1, name: 'assent-api-parent', ...SERVING });
  await refuseUnknownSchema(db, log);
  metrics.setDefaultLabels({ process: 'parent' });
  const children = new Children(config.API_PROCESSES, log, stdout);
  const port = await children.start();
  return {
    port,
    async readiness() {
      const { ready, checks } = await readiness(db);
      const processes = children.check();
      return { ready: ready && processes.alive > 0, checks: { ...checks, processes } };
    },
    metrics: () => children.collect(),
    async drain() {
      await children.drain();
      await db.destroy();
    },
  };
}

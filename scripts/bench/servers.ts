import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Knex } from 'knex';
import pg from 'pg';
import { UNLIMITED } from '../../api/platform/endpoint/limits.js';
import { openDatabase } from '../../db/connection.js';
import { migrateDatabase } from '../schema/migrate-database.js';
import { cpuOfFamily, readCpu } from './process-table.js';

/** The checkout; this file runs from dist/scripts/bench. */
const ROOT = resolve(import.meta.dirname, '../../..');

interface Running {
  pid: number;
  stop: (graceMs?: number) => Promise<void>;
}

/** The launchers of `npm start` (plain JavaScript), so the measured processes start the same way. */
interface Launchers {
  anyFreePort: () => Promise<number>;
  startPostgres: (options: { base: string; port: number; log: string; mode: 'durable' }) => Promise<Running & { url: string }>;
  startTemporal: (options: {
    cli: string;
    base: string;
    log: string;
    mode: 'durable';
    ports: { grpc: number; http: number; metrics: number; ui: null };
  }) => Promise<Running & { address: string }>;
  obtainCli: (say: (line: string) => void) => Promise<{ path: string }>;
  startService: (options: {
    label: string;
    file: string;
    log: string;
    env: Record<string, string | undefined>;
    spawned: (pid: number) => void;
  }) => Promise<Running>;
  waitReady: (port: number) => Promise<void>;
  endChildren: (graceMs: number) => Promise<void>;
}

async function loadLaunchers(): Promise<Launchers> {
  const load = (name: string): Promise<object> =>
    import(pathToFileURL(join(ROOT, 'scripts', 'embedded', name)).href) as Promise<object>;
  const files = ['ports.mjs', 'postgres.mjs', 'temporal.mjs', 'temporal-cli.mjs', 'services.mjs', 'processes.mjs'];
  return Object.assign({}, ...(await Promise.all(files.map(load)))) as Launchers;
}

/** Never reached. */
const UNREACHED = '1000000000';
export const FORGE_SECRET = 'bench-forge-secret';

/** One of our processes and its port. */
export interface Service extends Running {
  port: number;
  /** CPU seconds used so far. */
  cpu: () => number;
}

/** The API and its metrics port. */
export interface ApiService extends Service {
  metricsPort: number;
}

/** All servers of a benchmark, on separate ports and in a separate directory. */
export class Servers {
  readonly dir = mkdtempSync(join(tmpdir(), 'assent-bench-'));
  private launchers!: Launchers;
  private postgres!: Running & { url: string };
  private temporal: (Running & { address: string; ports: { http: number; metrics: number } }) | undefined;
  private readonly started: Running[] = [];
  private databases: Knex[] = [];
  /** The benchmark's own connections, as the launchers' superuser. */
  db!: Knex;

  private readonly profileDir: string | undefined;

  /**
   * `profileDir`: target of CPU profiles and the costliest statements, if given. `events`: the baseline writes an event per write,
   * as if it had a subscriber.
   */
  constructor(private readonly options: { profileDir?: string | undefined; events?: boolean } = {}) {
    this.profileDir = options.profileDir;
  }

  /** Starts PostgreSQL with the product's schema, durable like in `npm start`, with commit timestamps. */
  async start(): Promise<void> {
    // The database user that root starts must be able to enter.
    chmodSync(this.dir, 0o711);
    this.launchers = await loadLaunchers();
    const options = {
      base: this.dir,
      port: await this.launchers.anyFreePort(),
      log: this.log('postgres'),
      mode: 'durable' as const,
    };
    const first = await this.launchers.startPostgres(options);
    const admin = new pg.Client({ connectionString: first.url });
    await admin.connect();
    await admin.query('alter system set track_commit_timestamp = on');
    if (this.profileDir) await admin.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
    await admin.end();
    await first.stop();
    this.postgres = this.track(await this.launchers.startPostgres(options));
    this.db = this.open();
    await migrateDatabase(this.db, () => undefined);
    if (this.profileDir) {
      await this.db.raw('create extension pg_stat_statements');
      // Includes statements inside functions, where most of a write happens.
      await this.db.raw(`alter system set pg_stat_statements.track = 'all'`);
      await this.db.raw('select pg_reload_conf()');
    }
  }

  /** A pool for the benchmark's own statements. */
  open(): Knex {
    const db = openDatabase({ url: this.postgres.url, poolSize: 4, name: 'bench', statementTimeout: 0 });
    this.databases.push(db);
    return db;
  }

  /** With a profile directory: writes the statements with the highest total time since the last call. */
  async writeStatements(name: string): Promise<void> {
    if (!this.profileDir) return;
    const { rows } = await this.db.raw<{
      rows: { total: number; calls: number; rows: number; mean: number; query: string }[];
    }>(/* sql */ `
      select round(total_exec_time) as total, calls, rows, round(mean_exec_time::numeric, 3) as mean, query
      from pg_stat_statements order by total_exec_time desc limit 40`);
    const lines = rows.map(
      ({ total, calls, rows: count, mean, query }) =>
        `${total} ms  ${calls} calls  ${count} rows  ${mean} ms each\n${query.trim()}\n`,
    );
    writeFileSync(join(this.profileDir, `${name}-statements.txt`), lines.join('\n'));
    await this.db.raw('select pg_stat_statements_reset()');
  }

  /** PostgreSQL and all its backends. */
  postgresCpu = (): number => cpuOfFamily(this.postgres.pid);
  temporalCpu = (): number => readCpu(this.temporal?.pid ?? 0);

  async startTemporal(): Promise<void> {
    if (this.temporal) return;
    const { anyFreePort, obtainCli, startTemporal } = this.launchers;
    const cli = await obtainCli((line) => console.error(line));
    const ports = { grpc: await anyFreePort(), http: await anyFreePort(), metrics: await anyFreePort(), ui: null };
    const running = await startTemporal({
      cli: cli.path,
      base: join(this.dir, 'temporal'),
      log: this.log('temporal'),
      mode: 'durable',
      ports,
    });
    this.temporal = this.track({ ...running, ports });
  }

  /** Size of Temporal's store, including its write-ahead log. */
  temporalBytes(): number {
    const readSize = (suffix: string) =>
      statSync(join(this.dir, 'temporal', `temporal.db${suffix}`), { throwIfNoEntry: false })?.size;
    return (readSize('') ?? 0) + (readSize('-wal') ?? 0);
  }

  /** Requests that Temporal's frontend has answered so far, by operation. */
  async temporalCalls(): Promise<Map<string, number>> {
    const text = await (await fetch(`http://127.0.0.1:${this.temporal?.ports.metrics}/metrics`)).text();
    const calls = new Map<string, number>();
    for (const line of text.split('\n')) {
      const found = /^service_requests\{(.*)\} (\S+)$/.exec(line);
      const operation = /operation="(\w+)"/.exec(found?.[1] ?? '')?.[1];
      if (!found || !operation || !found[1]?.includes('service_name="frontend"')) continue;
      calls.set(operation, (calls.get(operation) ?? 0) + Number(found[2]));
    }
    return calls;
  }

  /** Starts the API like `npm start`, except for the limits and these settings. */
  async startApi(settings: Record<string, string> = {}): Promise<ApiService> {
    const ports = { PORT: await this.launchers.anyFreePort(), METRICS_PORT: await this.launchers.anyFreePort() };
    const api = await this.service('API', 'dist/api/server.js', 'api', ports.PORT, { ...ports, ...settings });
    await this.launchers.waitReady(ports.METRICS_PORT);
    return { ...api, metricsPort: ports.METRICS_PORT };
  }

  /** Starts the worker like `npm start`, except for these settings; ready when Temporal lists it as a poller. */
  async startWorker(settings: Record<string, string> = {}): Promise<Service> {
    const WORKER_METRICS_PORT = await this.launchers.anyFreePort();
    return this.service('The worker', 'dist/activities/worker.js', 'worker', WORKER_METRICS_PORT, {
      WORKER_METRICS_PORT,
      ...settings,
    });
  }

  async startFloor(kind: 'http' | 'temporal'): Promise<Service> {
    const PORT = await this.launchers.anyFreePort();
    return this.service(
      'The baseline',
      relative(ROOT, fileURLToPath(import.meta.resolve('./baselines.js'))),
      `floor-${kind}`,
      PORT,
      {
        PORT,
        FLOOR: kind,
        FLOOR_EVENTS: this.options.events ? 'on' : 'off',
      },
    );
  }

  private async service(
    label: string,
    file: string,
    log: string,
    port: number,
    settings: Record<string, string | number>,
  ): Promise<Service> {
    const { PATH, HOME } = process.env;
    const profiler = `--import ${import.meta.resolve('./profiler.js')}`;
    const env = {
      PATH,
      HOME,
      ...(this.profileDir ? { NODE_OPTIONS: profiler, BENCH_PROFILE: this.profileDir } : {}),
      NODE_ENV: 'development',
      DATABASE_URL: this.postgres.url,
      TEMPORAL_ADDRESS: this.temporal?.address ?? '127.0.0.1:1',
      DATA_DIR: join(this.dir, 'data'),
      WORKFLOW_BUNDLE: join(ROOT, '.build', 'workflow-bundle.js'),
      FORGE_WEBHOOK_SECRET: FORGE_SECRET,
      ...UNLIMITED,
      FILE_QUOTA_MB: UNREACHED,
      LOCKOUT_FAILURES: UNREACHED,
      ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)])),
    };
    const running = await this.launchers.startService({ label, file, log: this.log(log), env, spawned: () => undefined });
    return this.track({ ...running, stop: () => running.stop(5_000), port, cpu: () => cpuOfFamily(running.pid) });
  }

  private log = (name: string): string => join(this.dir, 'logs', `${name}.log`);

  private track<T extends Running>(running: T): T {
    this.started.push(running);
    return running;
  }

  /** Stops everything in reverse order and removes the directory. Safe at any time, even during a start. */
  async stop(): Promise<void> {
    for (const db of this.databases.splice(0)) await db.destroy().catch(() => undefined);
    for (const running of this.started.splice(0).reverse()) await running.stop(5_000).catch(() => undefined);
    await this.launchers?.endChildren(2_000);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

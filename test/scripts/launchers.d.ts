/** Types of the plain-JavaScript launchers and page scripts, as far as their tests use them. */
type Ended = { code: number | null; signal: string | null; error: Error | null };
type ServiceUser = { name: string; uid: number; gid: number };

declare module '*/embedded/errors.mjs' {
  export class StartError extends Error {
    cures: string[];
    log: string[];
  }
}
declare module '*/embedded/chromium.mjs' {
  export const CHROMIUM_ARGUMENTS: string[];
  export function obtainChromium(
    env?: Record<string, string | undefined>,
  ): Promise<{ executablePath: string; env: Record<string, string> }>;
}
declare module '*/embedded/display.mjs' {
  export interface Facts {
    name: string;
    version: string;
    ready_ms: number;
    app: string;
    api: string;
    docs: { swagger: string; redoc: string; openapi: string };
    mailbox: string | null;
    ops: string;
    temporal_ui: string | null;
    temporal_address: string;
    database: string;
    password_file: string | null;
    data_dir: string;
    demo: { accounts: { email: string; role: string }[]; password: string; token: string } | null;
  }
  export function screen(facts: Facts): string[];
  export function createSteps(options: { stream: { isTTY: boolean; write: (text: string) => void } }): {
    still: (text: string) => void;
    end: () => void;
  };
}
declare module '*/embedded/ports.mjs' {
  export function isFree(port: number): Promise<boolean>;
  export function anyFreePort(): Promise<number>;
  export function choosePort(wanted: {
    name: string;
    fallback: number;
    env: Record<string, string | undefined>;
    taken: Set<number>;
  }): Promise<{ port: number; movedFrom: number | null }>;
}
declare module '*/embedded/processes.mjs' {
  export function alive(pid: number): boolean;
  export function startMark(pid: number): string;
  export function stopPid(pid: number, steps: [NodeJS.Signals, number][]): Promise<boolean>;
}
declare module '*/embedded/postgres-files.mjs' {
  export function serviceUser(): ServiceUser | null;
  export function canReach(user: ServiceUser | null, dir: string): boolean;
  export function ensureLinks(packageDir: string): number;
  export function clusterDir(base: string, user: ServiceUser | null): string;
  export function temporaryParent(user: ServiceUser | null): string;
}
declare module '*/embedded/postgres.mjs' {
  export interface Postgres {
    url: string;
    adminUrl: string;
    port: number;
    pid: number;
    version: string;
    cluster: string;
    exited: Promise<Ended>;
    stop(graceMs?: number): Promise<void>;
  }
  export function startPostgres(options: {
    base: string;
    port: number;
    log: string;
    mode: 'durable' | 'test';
  }): Promise<Postgres>;
}
declare module '*/embedded/settings.mjs' {
  export function choosePorts(
    env: Record<string, string | undefined>,
  ): Promise<{ ports: { api: number; metrics: number; workerMetrics: number }; moved: string[] }>;
}
declare module '*/embedded/temporal.mjs' {
  export interface Temporal {
    address: string;
    pid: number;
    exited: Promise<Ended>;
    stop(graceMs?: number): Promise<void>;
  }
  export function startTemporal(options: {
    cli: string;
    base: string;
    log: string;
    mode: 'durable' | 'test';
    ports: { grpc: number; http: number; metrics: number; ui: number | null };
  }): Promise<Temporal>;
}
declare module '*/embedded/temporal-cli.mjs' {
  export function obtainCli(say: (line: string) => void): Promise<{ path: string }>;
  export function findCli(
    env: Record<string, string | undefined>,
  ): Promise<{ path: string; from: string; version: string } | null>;
  export function cachedCliPath(env: Record<string, string | undefined>): string;
}
declare module '*/embedded/install.mjs' {
  export function isInstalled(dir: string): boolean;
  export function ensureInstalled(options: { dir: string; output: 'ignore' }): Promise<boolean>;
}
declare module '*/embedded/run-state.mjs' {
  export function claim(dir: string): void;
  export function release(dir: string): void;
  export function runningState(dir: string): { pid: number } | null;
}
declare module '*/assets/docs-resolver.js' {
  export function resolveSubtree(
    document: unknown,
    path: string[],
  ): Promise<{ spec: Record<string, unknown> | null; errors: unknown[] }>;
}

declare module '*/schema/released-migrations.mjs' {
  export function hashMigrations(): Record<string, string>;
  export function readReleased(): Record<string, Record<string, string>>;
  export function listMigrationNames(files: string[]): string[];
  export function findChangedFiles(released: Record<string, Record<string, string>>, hashes: Record<string, string>): string[];
}

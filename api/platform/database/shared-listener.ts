import pg from 'pg';
import type { Logger } from '../telemetry/log.js';

/** Time in ms after the last wait until the connection closes. */
const IDLE_MS = 30_000;
const RETRY_MS = 1_000;

interface Options {
  url: string;
  /** Without one it only looks. */
  channel?: string;
  /** Name of the connection in pg_stat_activity. */
  name: string;
  /** Interval in ms of the look that finds what no notification told. */
  sweepMs: number;
  onNotification?: (payload: string) => void;
  /** Reads what has happened to everything that waits. Called after each connection, and regularly; one look at a time. */
  look: (client: pg.Client) => Promise<void>;
  isIdle: () => boolean;
}

/**
 * One LISTEN for all requests of a process that wait, with a connection of its own, so that waiting takes none from requests. The
 * connection exists only while a request waits, and shortly after.
 */
export class SharedListener {
  private client: pg.Client | undefined;
  private sweeping: NodeJS.Timeout | undefined;
  private closing: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isLooking = false;
  private isReady = false;
  /** Of the newest request. */
  private log: Logger | undefined;

  constructor(private readonly options: Options) {}

  /** A request begins to wait. */
  open(log: Logger): void {
    this.log = log;
    clearTimeout(this.closing);
    this.sweeping ??= setInterval(() => void this.look(), this.options.sweepMs).unref();
    if (!this.client) void this.connect();
  }

  /** No request waits any more. */
  closeSoon(): void {
    clearTimeout(this.closing);
    this.closing = setTimeout(() => {
      clearInterval(this.sweeping);
      clearTimeout(this.retry);
      this.sweeping = undefined;
      const { client } = this;
      this.client = undefined;
      this.isReady = false;
      void client?.end().catch(() => undefined);
    }, IDLE_MS).unref();
  }

  private async connect(): Promise<void> {
    clearTimeout(this.retry);
    if (this.client) return;
    const { url, channel, name, onNotification } = this.options;
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: 2_000,
      // A database that hangs must not keep the next look from happening.
      query_timeout: 5_000,
      keepAlive: true,
    });
    this.client = client;
    const reconnect = (error?: unknown): void => {
      if (this.client !== client) return;
      this.client = undefined;
      this.isReady = false;
      void client.end().catch(() => undefined);
      if (this.options.isIdle()) return;
      this.log?.warn({ err: error, name }, 'listener reconnecting');
      this.retry = setTimeout(() => void this.connect(), RETRY_MS).unref();
    };
    client.on('notification', ({ payload = '' }) => onNotification?.(payload));
    client.on('error', reconnect);
    client.on('end', reconnect);
    try {
      await client.connect();
      if (channel !== undefined) await client.query(`listen ${channel}`);
      this.isReady = true;
      await this.look();
    } catch (error) {
      reconnect(error);
    }
  }

  private async look(): Promise<void> {
    const { client } = this;
    if (!client || !this.isReady || this.isLooking || this.options.isIdle()) return;
    this.isLooking = true;
    try {
      await this.options.look(client);
    } catch (error) {
      this.log?.warn({ err: error, name: this.options.name }, 'what waits was not read; retrying');
    } finally {
      this.isLooking = false;
    }
  }
}

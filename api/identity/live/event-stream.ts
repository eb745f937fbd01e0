import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { timeOfId } from '../../platform/ids.js';
import { BEFORE_ALL, type Cursor, type Position } from './cursor.js';
import type { Filter } from './read-changes.js';

/** Bytes that wait for a slow client; beyond them its changes stay in the database until it has read these. */
const MAX_WAITING = 65_536;
/** Wait of a client before it connects again, ms. */
const RETRY_MS = 2_000;

/** Longest time that a timer takes, ms: 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What the rights of a stream rest on. `expiresAt`: end of the JWT that named the session, ms since 1970. The database knows that of a token. */
export type Credential = { kind: 'session'; id: string; expiresAt: number | undefined } | { kind: 'token'; id: string };

/**
 * One open connection of a client: what it follows, how far it got, and its bytes (Server-Sent Events). `isReading`: its changes come from the
 * database, because it catches up or reads slowly; else from the looks that all streams of the process share.
 */
export class EventStream extends Readable {
  isReading = true;
  /** Whose changes it gets from the shared looks. */
  owners: readonly string[] = [];
  /** Null until it has read for the first time without a cursor. */
  position: Position | null;
  /** When the position was given out, ms. */
  positionMs: number;
  private drained: (() => void) | undefined;
  private expiry: NodeJS.Timeout | undefined;
  /** Nothing is sent any more. */
  hasEnded = false;

  constructor(
    readonly follows: Filter,
    readonly credential: Credential,
    /** Counts its readings for the caller. */
    readonly db: Knex,
    cursor: Cursor | null,
  ) {
    super({ highWaterMark: 16_384 });
    this.position = cursor;
    this.positionMs = cursor?.ms ?? Date.now();
    this.push(`retry: ${RETRY_MS}\n\n`);
    if (credential.kind === 'token' || credential.expiresAt === undefined) return;
    this.expiry = setTimeout(() => this.end(), Math.min(credential.expiresAt - Date.now(), MAX_TIMER_MS)).unref();
  }

  override _read(): void {
    this.drained?.();
  }

  /** Whether the client reads more slowly than changes come. */
  get isFull(): boolean {
    return this.readableLength > MAX_WAITING;
  }

  /** Resolves when the client has read most of what waits, or is gone. */
  async whenDrained(): Promise<void> {
    while (this.isFull && !this.destroyed) {
      await new Promise<void>((resolve) => {
        this.drained = resolve;
      });
    }
    this.drained = undefined;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.expiry);
    this.drained?.();
    done(error);
  }

  /** Sends what stands at a place, or passes it over. */
  moveTo(position: Position, bytes?: Buffer): void {
    this.position = position;
    this.positionMs = position.id === BEFORE_ALL ? Date.now() : timeOfId(position.id);
    if (bytes) this.send(bytes);
  }

  send(bytes: Buffer): void {
    if (!this.destroyed && !this.hasEnded) this.push(bytes);
  }

  /** Ends the stream, also when its JWT expires. The client connects again where it was, and learns then why it may not. */
  end(): void {
    if (this.destroyed || this.hasEnded) return;
    this.hasEnded = true;
    this.push(null);
  }
}

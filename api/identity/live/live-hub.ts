import type pg from 'pg';
import { SharedListener } from '../../platform/database/shared-listener.js';
import { DomainError } from '../../platform/errors.js';
import type { Logger } from '../../platform/telemetry/log.js';
import { setLiveHeld, setLiveStreams } from '../../platform/telemetry/live-metrics.js';
import { beginReading, readOn, signOf, toBytes } from './catch-up.js';
import { nextChangesStatement } from './changes.sql.js';
import { type Cursor, isAfter, type Position } from './cursor.js';
import type { EventStream } from './event-stream.js';
import { type ChangeRow, type Changes, type FoundRow, isGiven, placeOf, presentChange, takeChanges } from './read-changes.js';
import { type Rights, readRights } from './read-rights.js';

/** Interval of the looks for new changes, ms: what one adds to the time from a commit to the clients is half of it. */
const LOOK_MS = 50;
/** Changes that one statement of a look reads; a look repeats it a few times, and leaves the rest to the next one. */
const LOOK_ROWS = 1_000;
const MAX_ROUNDS = 5;
/** Interval of the signs of life, ms; each also moves the client's cursor on. */
const BEAT_MS = 20_000;
/** Interval at which the credentials of all streams are checked, ms; with a change they are anyway. */
const CHECK_MS = 5_000;
/** Time for which a transaction may hold back all changes before the log says so, ms. */
const HELD_MS = 30_000;

const askOver =
  (client: pg.Client): Parameters<typeof readRights>[0] =>
  async (statement, values) =>
    (await client.query({ ...statement, values })).rows;

/** Streams of a process, and of one user in it. */
interface Limits {
  streams: number;
  ofUser: number;
}

/** A stream that has read everything up to a place, and joins the looks with the next one. */
interface Joining {
  stream: EventStream;
  read: Changes;
}

/**
 * All streams of a process over one connection of its own: every 50 ms it reads, in one statement, what has been committed for those whom some
 * stream follows, and in another the rights of these streams. PostgreSQL's NOTIFY is not used: transactions that notify commit one after another
 * (docs/adr/0003-notify-after-commit.md).
 */
class LiveHub {
  private readonly streams = new Set<EventStream>();
  private readonly byOwner = new Map<string, Set<EventStream>>();
  private readonly ofUser = new Map<string, number>();
  private readonly listener: SharedListener;
  private joining: Joining[] = [];
  /** Everything before it was given to the streams in `byOwner`. */
  private position: Position | undefined;
  private positionMs = 0;
  private history = 0;
  private checkedAt = 0;
  private heldSince = 0;
  private beating: NodeJS.Timeout | undefined;
  private log: Logger | undefined;

  constructor(
    url: string,
    private readonly idleSeconds: number,
  ) {
    const look = (client: pg.Client): Promise<void> => this.look(client);
    this.listener = new SharedListener({
      url,
      name: 'assent-live',
      sweepMs: LOOK_MS,
      isIdle: () => this.streams.size === 0,
      look,
    });
  }

  /** @throws RATE_LIMIT_EXCEEDED */
  checkRoom(userId: string, { streams, ofUser }: Limits): void {
    const isCrowded = this.streams.size >= streams;
    if (!isCrowded && (this.ofUser.get(userId) ?? 0) < ofUser) return;
    const message = isCrowded ? 'This server has no room for another stream' : `You already have ${ofUser} streams here`;
    throw new DomainError('RATE_LIMIT_EXCEEDED', message, { headers: { 'Retry-After': '10' } });
  }

  /**
   * Begins a stream after the cursor, or with what is committed from now on. Resolves after its first reading.
   * @throws CURSOR_EXPIRED
   */
  async open(stream: EventStream, cursor: Cursor | null, log: Logger): Promise<void> {
    this.add(stream, log);
    try {
      const read = await beginReading(stream, cursor, this.idleSeconds);
      if (read.isWhole) this.joining.push({ stream, read });
      else void this.catchUp(stream);
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** Ends all streams: this process stops, or the order of changes is another one. Their clients connect again. */
  stop(): void {
    for (const stream of this.streams) this.end(stream);
    this.position = undefined;
  }

  private end(stream: EventStream): void {
    this.leave(stream);
    stream.end();
  }

  private add(stream: EventStream, log: Logger): void {
    const { userId } = stream.follows;
    this.log = log;
    this.streams.add(stream);
    this.ofUser.set(userId, (this.ofUser.get(userId) ?? 0) + 1);
    stream.once('close', () => this.remove(stream));
    setLiveStreams(this.streams.size);
    this.listener.open(log);
    this.beating ??= setInterval(() => this.beat(), BEAT_MS).unref();
  }

  private remove(stream: EventStream): void {
    this.leave(stream);
    this.streams.delete(stream);
    setLiveStreams(this.streams.size);
    const { userId } = stream.follows;
    const left = (this.ofUser.get(userId) ?? 1) - 1;
    if (left === 0) this.ofUser.delete(userId);
    else this.ofUser.set(userId, left);
    if (this.streams.size > 0) return;
    clearInterval(this.beating);
    this.beating = undefined;
    this.position = undefined;
    this.listener.closeSoon();
  }

  /** Takes a stream out of the looks. */
  private leave(stream: EventStream): void {
    stream.isReading = true;
    for (const owner of stream.owners) {
      const others = this.byOwner.get(owner);
      others?.delete(stream);
      if (others?.size === 0) this.byOwner.delete(owner);
    }
    stream.owners = [];
  }

  /** Lets a stream read from the database until it has nothing left, and then join the looks. */
  private async catchUp(stream: EventStream): Promise<void> {
    try {
      const read = await readOn(stream, this.idleSeconds);
      if (read) this.joining.push({ stream, read });
    } catch (error) {
      this.log?.warn({ err: error }, 'a stream of changes ends: they were not read');
      stream.end();
    }
  }

  /** Takes in the streams that have read at least as far as the looks; the others read on. Only between looks, so that none misses what one reads. */
  private takeIn(): void {
    const joining = this.joining.filter(({ stream }) => !stream.destroyed && !stream.hasEnded);
    this.joining = [];
    for (const { read } of joining) {
      if (this.position && (this.byOwner.size > 0 || !isAfter(this.position, read.last))) continue;
      this.position = read.last;
      this.positionMs = Date.now();
      this.history = read.history;
    }
    for (const { stream, read } of joining) {
      if (isAfter(this.position as Position, read.last)) void this.catchUp(stream);
      else this.follow(stream, stream.follows.teamId === null ? read.owners : [stream.follows.teamId]);
    }
  }

  private follow(stream: EventStream, owners: readonly string[]): void {
    stream.isReading = false;
    stream.owners = owners;
    for (const owner of owners) this.byOwner.set(owner, (this.byOwner.get(owner) ?? new Set()).add(stream));
  }

  /** Gives each stream what was committed since the last look. One at a time. */
  private async look(client: pg.Client): Promise<void> {
    this.takeIn();
    for (let round = 0; this.position && round < MAX_ROUNDS; round += 1) {
      const { xid, id } = this.position;
      const values = [[...this.byOwner.keys()], xid.toString(), id, new Date(this.positionMs), LOOK_ROWS];
      const { rows: found } = await client.query<FoundRow<{ held: boolean }>>({ ...nextChangesStatement, values });
      const { rows, last, isWhole, history } = takeChanges(found, LOOK_ROWS);
      // After a restore or a failover the order is another one: clients ask with their cursors, and learn so.
      if (history !== this.history) return this.stop();
      if (rows.length > 0) await this.deliver(client, rows);
      this.watch(found[0]?.held === true && last.xid === xid);
      if (this.position) this.moveTo(last);
      if (isWhole) break;
    }
    await this.checkAll(client);
  }

  private moveTo(position: Position): void {
    this.position = position;
    this.positionMs = Date.now();
  }

  private async deliver(client: pg.Client, rows: readonly ChangeRow[]): Promise<void> {
    const owners = [...new Set(rows.map(({ owner_id }) => owner_id))];
    const affected = new Set(owners.flatMap((owner) => [...(this.byOwner.get(owner) ?? [])]));
    const rights = await readRights(askOver(client), affected, owners, this.idleSeconds);
    for (const row of rows) {
      let bytes: Buffer | undefined;
      const getBytes = (): Buffer => (bytes ??= toBytes(presentChange(this.history, row)));
      for (const stream of this.byOwner.get(row.owner_id) ?? []) this.offer(stream, row, rights, getBytes);
    }
  }

  /** Gives a change to a stream, if it is one of what it follows and may read. */
  private offer(stream: EventStream, row: ChangeRow, rights: Rights, getBytes: () => Buffer): void {
    const place = placeOf(row);
    if (stream.isReading || (stream.position && !isAfter(place, stream.position))) return;
    if (!rights.isLive(stream)) return this.end(stream);
    const { follows } = stream;
    stream.moveTo(place, isGiven(follows, row, rights.roleIn(stream, row.owner_id)) ? getBytes() : undefined);
    // The user has other teams now; or the client is slow, and what it has not read stays in the database.
    if ((row.entity_type === 'membership' && row.owner_id === follows.userId) || stream.isFull) {
      this.leave(stream);
      void this.catchUp(stream);
    }
  }

  /** Ends the streams whose session or token has ended, if that has not been looked at for a while. */
  private async checkAll(client: pg.Client): Promise<void> {
    if (Date.now() - this.checkedAt < CHECK_MS) return;
    this.checkedAt = Date.now();
    // Those that open while this reads are not among what it reads.
    const streams = new Set(this.streams);
    const rights = await readRights(askOver(client), streams, [], this.idleSeconds);
    for (const stream of streams) if (!rights.isLive(stream)) this.end(stream);
  }

  /** Says once if a transaction that stays open holds back all changes. */
  private watch(isHeld: boolean): void {
    const now = Date.now();
    const before = this.heldSince;
    this.heldSince = isHeld ? before || now : 0;
    const heldMs = isHeld ? now - this.heldSince : 0;
    setLiveHeld(heldMs / 1000);
    if (heldMs < HELD_MS || now - this.heldSince > HELD_MS + LOOK_MS * 2) return;
    this.log?.warn({ held_ms: heldMs }, 'a transaction that stays open holds back the changes of all streams');
  }

  /** Keeps the connections open, and moves the cursors of clients on that got nothing for a while. */
  private beat(): void {
    const comment = Buffer.from(':\n\n');
    const sign = this.position ? signOf(this.history, this.position) : comment;
    for (const stream of this.streams) if (stream.readableLength === 0) stream.send(stream.isReading ? comment : sign);
  }
}

const hubs = new Map<string, LiveHub>();

/** Returns the streams of this process, one hub for each database. `idleSeconds`: after which a session ends. */
export function liveHub(url: string, idleSeconds: number): LiveHub {
  const hub = hubs.get(url) ?? new LiveHub(url, idleSeconds);
  hubs.set(url, hub);
  return hub;
}

/** Ends every stream: this process stops. */
export function stopLiveStreams(): void {
  for (const hub of hubs.values()) hub.stop();
}

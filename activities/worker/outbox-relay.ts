import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../api/platform/context.js';
import { applyDeliveries } from '../../api/integrations/forge/deliveries/apply-deliveries.js';
import {
  abandonExpired,
  type AnyDispatcher,
  dispatchFailed,
  dispatchOutbox,
  removeRows,
  retryDispatches,
} from '../../api/platform/outbox/dispatch-outbox.js';
import { EventMatcher, type MatchResult, type ClaimedEvent } from '../../api/platform/outbox/match-events.js';
import { EVENTS_PER_TEAM, NO_OWNER, pollStatement } from '../../api/platform/outbox/match-events.sql.js';
import { isBusy, isRowFailure, recordFailure } from '../../api/platform/outbox/park-row.js';
import { type OutboxPoll, pollOutbox } from '../../api/platform/outbox/poll-outbox.js';
import { SUBSCRIBERS } from '../subscribers.js';
import type { AnySubscriberKind, RunStart } from '../../api/platform/outbox/subscriber.js';
import type { Statement } from '../../db/statement.js';
import { abandonedRuns } from '../runs/automation-runs.js';
import { traceEvents } from './trace-events.js';

/**
 * Lease of a start in seconds; afterwards another worker may dispatch it, because its creator died
 * (docs/decisions/automation.md#dispatch-leases).
 */
const LEASE_SECONDS = 6;
/** Maximum concurrent starts; the others wait in the outbox. */
const MAX_STARTING = 100;
/** Interval in ms for deleting dispatched rows, many at a time. */
const REMOVE_AFTER_MS = 50;

export interface RelayOptions {
  /**
   * Time in ms without Temporal after which expired rows are abandoned: a worker that has just started may connect in a moment.
   */
  giveUpAfterMs?: number;
  subscribers?: readonly AnySubscriberKind[];
}

/** Processes the outbox: events for their subscribers, deliveries, and everything for Temporal. */
export class OutboxRelay {
  private readonly matcher: EventMatcher;
  private readonly pollStatement: Statement;
  private readonly options: Required<RelayOptions>;
  private lastConnected = Date.now();
  /** Starts that this relay has just created and is dispatching. */
  private readonly starting = new Set<Promise<void>>();
  private readonly cursor = { after: NO_OWNER };
  private readonly dispatched: number[] = [];
  private removing: Promise<void> | undefined;

  constructor(
    private readonly services: Services,
    /** None while Temporal is unavailable: database work continues. */
    private readonly dispatchers: () => readonly AnyDispatcher[],
    { giveUpAfterMs = 60_000, subscribers = SUBSCRIBERS }: RelayOptions = {},
  ) {
    this.options = { giveUpAfterMs, subscribers };
    this.matcher = new EventMatcher(subscribers);
    this.pollStatement = pollStatement(subscribers);
  }

  /** Runs one pass over everything due except dispatching. Returns the number of rows handled. */
  async pass(): Promise<number> {
    const deliveries = (await this.poll()).deliveries ? await this.deliver() : 0;
    const { dropped, events } = await this.poll();
    const handled = events ? await this.match() : 0;
    await this.settled();
    return dropped + deliveries + handled;
  }

  /** Drops events without a subscriber and returns what else is due. */
  poll(): Promise<OutboxPoll> {
    return pollOutbox(this.services, this.pollStatement, this.matcher.after);
  }

  /** Runs one pass over due deliveries. Returns the number handled. */
  deliver(): Promise<number> {
    return applyDeliveries(this.services);
  }

  /** Returns true if another poll should follow at once, because this one reached its limit. */
  hasMore(poll: OutboxPoll, matched: number): boolean {
    return poll.more || matched >= EVENTS_PER_TEAM || this.leftBehind;
  }
  private leftBehind = false;

  /**
   * Runs one pass over due events. Dispatches the resulting starts at once, in parallel with the next pass, because a call to an
   * unresponsive Temporal takes many seconds. If the pass fails, retries each owner's events separately, then each event, so that
   * a bad one blocks nobody else's. Returns the number of events taken.
   */
  async match(): Promise<number> {
    let events: readonly ClaimedEvent[] = [];
    try {
      return await this.matchOnly(null, (taken) => {
        events = taken;
      });
    } catch (error) {
      if (events.length === 0 || !(isRowFailure(error) || isBusy(error))) throw error;
      const owners = [...new Set(events.map(({ owner_id }) => owner_id))];
      for (const owner of owners) {
        const ids = events.filter(({ owner_id }) => owner_id === owner).map(({ outbox_id }) => outbox_id);
        await this.matchApart(ids, owners.length === 1 ? error : null);
      }
      return events.length;
    }
  }

  /** Matches one owner's events in one transaction, or each alone if that fails. Events blocked by a lock wait together. */
  private async matchApart(ids: readonly number[], failed: unknown): Promise<void> {
    let error = failed;
    if (error === null) {
      error = await this.matchOnly(ids).then(
        () => null,
        (thrown: unknown) => thrown ?? new Error('unknown'),
      );
    }
    if (error === null) return;
    if (ids.length > 1 && !isBusy(error)) {
      for (const id of ids) await this.matchApart([id], null);
      return;
    }
    await recordFailure(this.services, { outbox_ids: ids, leased: false }, error, isRowFailure(error));
  }

  private async matchOnly(only: readonly number[] | null, onTaken: (events: readonly ClaimedEvent[]) => void = () => undefined) {
    // Too many concurrent starts: other workers may dispatch these from the outbox.
    const dispatcher = this.starting.size < MAX_STARTING ? this.runs() : undefined;
    const since = performance.now();
    let events: readonly ClaimedEvent[] = [];
    const result = await this.matcher.match(this.services, dispatcher ? LEASE_SECONDS : null, only, (taken) => {
      events = taken;
      onTaken(taken);
    });
    this.leftBehind = result.left;
    const { tracer } = this.services;
    const spans = tracer && traceEvents(tracer, events, result.starts, since);
    await this.follow(result, dispatcher, spans);
    return result.taken;
  }

  private async follow(
    { starts, afterCommit }: MatchResult,
    dispatcher: AnyDispatcher | undefined,
    spans?: ReadonlyMap<string, string>,
  ): Promise<void> {
    if (dispatcher) for (const start of starts) this.start(dispatcher, start, spans?.get(start.event_id ?? ''));
    else if (starts.length > 0) this.services.notifyRelay();
    for (const after of afterCommit) {
      await after(this.services).catch((error: unknown) =>
        this.services.log.error({ err: error }, 'not done after matching events'),
      );
    }
  }

  /** Resolves when all current starts are done. */
  async settled(): Promise<void> {
    await Promise.all(this.starting);
  }

  /** Returns the dispatcher of runs; undefined while Temporal is unavailable. */
  private runs(): AnyDispatcher | undefined {
    return this.dispatchers().find(({ kinds }) => kinds.includes('run.start'));
  }

  private start(dispatcher: AnyDispatcher, start: RunStart, event_span: string | undefined): void {
    const row = { ...start, kind: 'run.start', event_span };
    const started = dispatcher
      .dispatch(row, this.services)
      .then(
        () => true,
        (error: unknown) => dispatchFailed(this.services, dispatcher, row, { kind: 'run.start', age_hours: 0 }, error),
      )
      .then((done) => (done ? this.remove(start.outbox_id) : undefined))
      .catch((error: unknown) =>
        this.services.log.warn({ err: error, run_id: start.run_id }, 'start not noted, will be repeated'),
      )
      .finally(() => this.starting.delete(started));
    this.starting.add(started);
  }

  /** Deletes a dispatched row, together with others. */
  private remove(outboxId: number): Promise<void> {
    this.dispatched.push(outboxId);
    this.removing ??= this.removeDispatched().finally(() => {
      this.removing = undefined;
    });
    return this.removing;
  }

  /** Delayed so that it does not compete with the action just started. */
  private async removeDispatched(): Promise<void> {
    await sleep(REMOVE_AFTER_MS);
    while (this.dispatched.length > 0) await removeRows(this.services, this.dispatched.splice(0));
  }

  /** Makes rows due whose dispatch failed: Temporal is reachable again. */
  async retryNow(): Promise<void> {
    await retryDispatches(this.services, this.dispatchers());
  }

  /**
   * Runs one pass over the rows for Temporal. Without Temporal they wait; after OUTBOX_GIVE_UP_HOURS a start becomes a failed
   * run. Returns the number of rows done.
   */
  async dispatch(): Promise<number> {
    const dispatchers = this.dispatchers();
    if (dispatchers.length > 0) {
      this.lastConnected = Date.now();
      return dispatchOutbox(this.services, dispatchers, this.cursor);
    }
    if (Date.now() - this.lastConnected < this.options.giveUpAfterMs) return 0;
    return abandonExpired(this.services, abandonedRuns(this.services.config.OUTBOX_GIVE_UP_HOURS));
  }
}

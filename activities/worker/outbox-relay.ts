import { setTimeout as sleep } from 'node:timers/promises';
import type { RunStart } from '../../api/runs/dispatch/create-run.js';
import { failDispatch } from '../../api/runs/execution/fail-dispatch.js';
import type { Services } from '../../api/core/context.js';
import { applyDeliveries } from '../../api/outbox/apply-deliveries.js';
import {
  abandonExpired,
  type AnyDispatcher,
  type Dispatcher,
  dispatchFailed,
  dispatchOutbox,
  removeRows,
} from '../../api/outbox/dispatch-outbox.js';
import { EventMatcher, type MatchResult, type ClaimedEvent } from '../../api/outbox/match-events.js';
import { EVENTS_PER_TEAM, pollStatement } from '../../api/outbox/match-events.sql.js';
import { isBusy, isRowFailure, recordFailure } from '../../api/outbox/park-row.js';
import { type OutboxPoll, pollOutbox } from '../../api/outbox/poll-outbox.js';
import { SUBSCRIBERS } from '../../api/outbox/subscribers/index.js';
import type { AnySubscriberKind } from '../../api/outbox/subscribers/subscriber.js';
import type { Statement } from '../../db/statement.js';
import type { Dispatch, RunDispatcher } from './run-dispatcher.js';

/** Seconds for which a start is its creator's to dispatch; then another worker may, for its creator died. */
const LEASE_SECONDS = 6;
/** Starts under way at once; those beyond wait in the outbox. */
const MAX_STARTING = 100;
/** Rows that were dispatched are removed many at a time, after so long. */
const REMOVE_AFTER_MS = 50;

/** Of a run r: the task that its event is about, and what it is to do. */
const ENTITY = `coalesce(r.event->'task'->>'task_id', r.event->'linked_task_ids'->>0)`;
const STEPS = /* sql */ `coalesce((
  select json_agg(json_build_object('index', a.index, 'type', a.type, 'label', coalesce(a.name, a.type)) order by a.index)
  from run_actions a where a.run_id = r.run_id and a.status <> 'skipped'), '[]')`;

/** $1 = leased rows. */
const runDetails: Statement = {
  name: 'run_dispatches',
  text: /* sql */ `
  select o.outbox_id, o.kind, o.payload, o.correlation_id, r.run_id, r.automation_id, r.automation_name, r.team_id, r.project_id,
    r.creator_id, r.trigger_type, r.depth, r.is_test, ${ENTITY} as entity_id, ${STEPS} as steps
  from outbox o join automation_runs r on r.run_id = (o.payload->>'run_id')::uuid where o.outbox_id = any($1::bigint[])`,
};

type RunRow = Dispatch & Record<string, unknown>;

export interface RelayOptions {
  /** Without Temporal for this long, ms, what is too old is given up: a worker that has just started may be connected in a moment. */
  giveUpAfterMs?: number;
  /** Dispatchers of what else waits for Temporal; empty while it cannot be reached. */
  others?: () => readonly AnyDispatcher[];
  subscribers?: readonly AnySubscriberKind[];
}

/** Carries the outbox: events to their subscribers, deliveries to their work, everything else to Temporal. */
export class OutboxRelay {
  private readonly matcher: EventMatcher;
  private readonly pollStatement: Statement;
  private readonly options: Required<RelayOptions>;
  private lastConnected = Date.now();
  /** Starts on their way to Temporal, written by this relay a moment ago. */
  private readonly starting = new Set<Promise<void>>();
  private readonly dispatched: number[] = [];
  private removing: Promise<void> | undefined;

  constructor(
    private readonly services: Services,
    /** Undefined while Temporal cannot be reached: database work goes on without it. */
    private readonly dispatcher: () => RunDispatcher | undefined,
    { giveUpAfterMs = 60_000, others = () => [], subscribers = SUBSCRIBERS }: RelayOptions = {},
  ) {
    this.options = { giveUpAfterMs, others, subscribers };
    this.matcher = new EventMatcher(subscribers);
    this.pollStatement = pollStatement(subscribers);
  }

  /** One pass over everything due but dispatching. Returns the number of rows handled, 0 when there was nothing to do. */
  async pass(): Promise<number> {
    const deliveries = (await this.poll()).deliveries ? await this.deliver() : 0;
    const { dropped, events } = await this.poll();
    const handled = events ? await this.match() : 0;
    await this.settled();
    return dropped + deliveries + handled;
  }

  /** Drops the events without a subscriber and says what else is due. */
  poll(): Promise<OutboxPoll> {
    return pollOutbox(this.services, this.pollStatement, this.matcher.after);
  }

  /** One pass over the deliveries that are due. Returns how many were handled. */
  deliver(): Promise<number> {
    return applyDeliveries(this.services);
  }

  /** True when another poll should follow at once: this one ended at its limit. */
  hasMore(poll: OutboxPoll, matched: number): boolean {
    return poll.more || matched >= EVENTS_PER_TEAM || this.leftBehind;
  }
  private leftBehind = false;

  /**
   * One pass over the events that are due. What they start is dispatched at once, beside the next pass, because a call to a Temporal
   * that went silent ends only after many seconds. When the pass fails, each owner's events go by themselves, and then each event: a
   * bad one holds up nobody else's. Returns how many events were taken.
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

  /** Matches one owner's events in one transaction, or each alone once that has failed. Those that met a lock wait together. */
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
    // Too many under way already: the others are anyone's, and wait their turn in the outbox.
    const dispatcher = this.starting.size < MAX_STARTING ? this.dispatcher() : undefined;
    const result = await this.matcher.match(this.services, dispatcher ? LEASE_SECONDS : null, only, onTaken);
    this.leftBehind = result.left;
    await this.follow(result, dispatcher);
    return result.taken;
  }

  private async follow({ starts, afterCommit }: MatchResult, dispatcher: RunDispatcher | undefined): Promise<void> {
    if (dispatcher) for (const start of starts) this.start(dispatcher, start);
    else if (starts.length > 0) this.services.notifyRelay();
    for (const after of afterCommit) {
      await after(this.services).catch((error: unknown) =>
        this.services.log.error({ err: error }, 'not done after matching events'),
      );
    }
  }

  /** Resolves when every start under way has been answered. */
  async settled(): Promise<void> {
    await Promise.all(this.starting);
  }

  /** What hands runs to Temporal; a start that has waited OUTBOX_GIVE_UP_HOURS becomes a failed run. */
  private runs(dispatcher: RunDispatcher | undefined): Dispatcher<RunRow> {
    return {
      kinds: ['run.start', 'run.wake'],
      details: runDetails,
      dispatch: async (row) => dispatcher?.dispatch(row),
      abandon: {
        kind: 'run.start',
        afterHours: this.services.config.OUTBOX_GIVE_UP_HOURS,
        run: ({ run_id }) => failDispatch(this.services, run_id),
      },
    };
  }

  private start(dispatcher: RunDispatcher, start: RunStart): void {
    const row: RunRow = { ...start, kind: 'run.start' };
    const started = dispatcher
      .dispatch(row)
      .then(
        () => true,
        (error: unknown) => dispatchFailed(this.services, this.runs(dispatcher), row, { kind: 'run.start', age_hours: 0 }, error),
      )
      .then((done) => (done ? this.remove(start.outbox_id) : undefined))
      .catch((error: unknown) =>
        this.services.log.warn({ err: error, run_id: start.run_id }, 'start not noted, will be repeated'),
      )
      .finally(() => this.starting.delete(started));
    this.starting.add(started);
  }

  /** Removes a row that was dispatched; many at a time, as they come. */
  private remove(outboxId: number): Promise<void> {
    this.dispatched.push(outboxId);
    this.removing ??= this.removeDispatched().finally(() => {
      this.removing = undefined;
    });
    return this.removing;
  }

  /** Not at once: that would take the time of the very action which was just started. */
  private async removeDispatched(): Promise<void> {
    await sleep(REMOVE_AFTER_MS);
    while (this.dispatched.length > 0) await removeRows(this.services, this.dispatched.splice(0));
  }

  /**
   * One pass over what waits for Temporal. Without Temporal the rows wait; after OUTBOX_GIVE_UP_HOURS a start becomes a failed run.
   * Returns the number of rows done.
   */
  async dispatch(): Promise<number> {
    const dispatcher = this.dispatcher();
    const runs = this.runs(dispatcher) as unknown as AnyDispatcher;
    if (dispatcher) {
      this.lastConnected = Date.now();
      return dispatchOutbox(this.services, [runs, ...this.options.others()]);
    }
    return Date.now() - this.lastConnected >= this.options.giveUpAfterMs ? abandonExpired(this.services, runs) : 0;
  }
}

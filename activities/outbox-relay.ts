import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import {
  HEARD_EVENT,
  type HeardEvent,
  HEARERS,
  matchAutomations,
  type StartOrder,
} from '../api/automations/match-automations.js';
import type { Context, Services } from '../api/core/context.js';
import { applyDelivery } from '../api/forge/apply-delivery.js';
import { failDispatch } from '../api/automations/run/fail-dispatch.js';
import { run, type Statement } from '../db/statement.js';
import type { Dispatch, RunDispatcher } from './run-dispatcher.js';

/** Rows of one pass; more wait for the next, so that no kind starves another. */
export const BATCH = 100;
/** Seconds until a row is tried again, by attempts: quick at first, never more than a minute. */
const BACKOFF = 'least(60, power(2, least(attempts, 6)))';
/** Seconds for which an order is its maker's to hand over; then another relay may, for its maker died. */
const LEASE_SECONDS = 6;

/** Orders that were handed over stay so long, to be forgotten many at a time. */
const REMOVE_AFTER_MS = 50;

interface Delivery extends Record<string, unknown> {
  payload: { receipt_id: string };
  correlation_id: string;
}

type LeasedRow = Omit<Dispatch, 'run_id'> & { run_id: string | null; given_up: boolean };

/** Runs of several events that are made in one commit: a thousand automations may hear each of a hundred events. */
const MOST_RUNS = 1000;

/** Events dropped by one survey; more wait for the next. */
export const MOST_DROPPED = 1000;

/** What is due, after the events that nobody listens for were dropped. */
export interface Survey extends Record<string, unknown> {
  dropped: number;
  deliveries: boolean;
  /** The next events that somebody may hear, with who that is. */
  events: HeardEvent[];
  /** Something waits for `handOver`. */
  hand_overs: boolean;
  /** Audit entries wait for the sealer. */
  unsealed: boolean;
  /** Mails wait to be sent. */
  mails: boolean;
}

/** What a crash may take back need not wait for the disk: it is done again, which changes nothing. */
const RELAXED = `set_config('synchronous_commit', 'off', true) <> ''`;

/**
 * Events that nobody listens for are dropped in this one statement, without a transaction of their own and without Temporal. The
 * same round trip brings the other events with the automations that may hear them, and says what else is due, so that an event
 * that arms nothing costs no more than this, and one that fires only one statement more before its start.
 */
const surveyStatement: Statement = {
  name: 'survey_outbox',
  text: /* sql */ `
with idle as (
  delete from outbox where outbox_id = any(array(
    select o.outbox_id from outbox o
    where o.kind = 'event' and o.next_attempt_at <= now() and not exists (select from ${HEARERS})
    order by o.outbox_id limit ${MOST_DROPPED} for update skip locked)) and ${RELAXED}
  returning outbox_id
), heard as (
  select o.* from outbox o
  where o.kind = 'event' and o.next_attempt_at <= now() and o.outbox_id not in (select outbox_id from idle)
  order by o.outbox_id limit ${BATCH}
)
select (select count(*)::int from idle) as dropped,
  coalesce((select json_agg(${HEARD_EVENT} order by o.outbox_id) from heard o), '[]') as events,
  exists (select from outbox o where o.kind = 'forge.delivery' and o.next_attempt_at <= now()) as deliveries,
  exists (select from outbox o where o.kind not in ('event', 'forge.delivery') and o.next_attempt_at <= now()) as hand_overs,
  exists (select from audit_unsealed) as unsealed,
  exists (select from mails where state = 'queued' and next_attempt_at <= now()) as mails`,
};

/** The delivery that is due first. */
const claimStatement: Statement = {
  name: 'claim_delivery',
  text: /* sql */ `
  delete from outbox where outbox_id = (
    select outbox_id from outbox where kind = 'forge.delivery' and next_attempt_at <= now() order by outbox_id limit 1 for update skip locked)
  returning payload, correlation_id`,
};

/** Of a run r: the task that its event is about, and what it is to do. */
const ENTITY = `coalesce(r.event->'task'->>'task_id', r.event->'linked_task_ids'->>0)`;
const STEPS = /* sql */ `coalesce((
  select json_agg(json_build_object('index', a.index, 'type', a.type, 'label', coalesce(a.name, a.type)) order by a.index)
  from run_actions a where a.run_id = r.run_id and a.status <> 'skipped'), '[]')`;

/**
 * $1 most rows, $2 hours until a start is given up. A row handed to Temporal stays until it was taken; the lease lets another relay
 * try when this one dies. A row without its run is leased too, with `run_id` null, so that it can be told from the others and
 * dropped.
 */
const leaseStatement: Statement = {
  name: 'lease_outbox',
  text: /* sql */ `
  with due as (
    select outbox_id from outbox where kind in ('run.start', 'run.wake') and next_attempt_at <= now()
    order by outbox_id limit $1 for update skip locked
  )
  update outbox o set attempts = o.attempts + 1, next_attempt_at = now() + make_interval(secs => ${BACKOFF.replaceAll('attempts', 'o.attempts')} + 5)
  from due join outbox d using (outbox_id) left join automation_runs r on r.run_id = (d.payload->>'run_id')::uuid
  where o.outbox_id = due.outbox_id and ${RELAXED}
  returning o.outbox_id, o.kind, o.payload, o.correlation_id, r.run_id, r.automation_id, r.automation_name, r.team_id, r.project_id,
    r.creator_id, r.trigger_type, r.depth, r.is_test, ${ENTITY} as entity_id, ${STEPS} as steps, o.created_at < now() - make_interval(hours => $2) as given_up`,
};

/** $1 rows that were handed over. */
const removeStatement: Statement = {
  name: 'remove_outbox',
  text: `delete from outbox where outbox_id = any($1::bigint[]) and ${RELAXED}`,
};

/** Starts that have waited too long, while there is no Temporal to hand them to. */
const GIVEN_UP = /* sql */ `
  select outbox_id, (payload->>'run_id')::uuid as run_id from outbox
  where kind = 'run.start' and created_at < now() - make_interval(hours => ?) and next_attempt_at <= now() order by outbox_id limit ?`;

/** Notes a failure on the rows and lets them wait; they are tried again, alone. */
const POSTPONE = /* sql */ `
  update outbox set attempts = attempts + 1, last_error = ?, next_attempt_at = now() + make_interval(secs => ${BACKOFF})
  where outbox_id = any(?)`;

/** The delivery that would be claimed next: the one to postpone when it failed. */
const FIRST_DELIVERY = `select outbox_id from outbox where kind = 'forge.delivery' and next_attempt_at <= now()
  order by outbox_id limit 1 for update skip locked`;

export class OutboxRelay {
  constructor(
    private readonly services: Services,
    /** Undefined while Temporal cannot be reached: database work goes on without it. */
    private readonly dispatcher: () => RunDispatcher | undefined,
    /** Without Temporal for this long, what is too old is given up: a worker that has just started may be linked in a moment. */
    private readonly giveUpAfterMs = 60_000,
  ) {}

  private lastLinked = Date.now();
  /** Starts on their way to Temporal, made by this relay a moment ago. */
  private readonly starting = new Set<Promise<void>>();
  private readonly handed: number[] = [];
  private removing: Promise<void> | undefined;

  /** One pass over everything due, to its end. Returns the number of rows handled, 0 when there was nothing to do. */
  async pass(): Promise<number> {
    const due = await this.survey();
    const { handled } = await this.work(due);
    await this.settled();
    return due.dropped + handled;
  }

  /** Drops the events that arm nothing and says what else is due. */
  async survey(): Promise<Survey> {
    const [survey] = await run<Survey>(this.services.db, surveyStatement, []);
    return survey as Survey;
  }

  /**
   * Works on the deliveries and events that are due; a full batch means that more may wait. What fires is started at once, beside
   * the next pass, because a call to a Temporal that went silent ends only after many seconds. `orders`: something was left for
   * `handOver`.
   */
  async work(due: Survey): Promise<{ handled: number; orders: boolean }> {
    const deliveries = due.deliveries ? await this.deliverAll() : 0;
    // A delivery leaves events, and orders that no bell announces.
    const { events, hand_overs: orders } = deliveries > 0 ? await this.survey() : due;
    const left = events.length > 0 && (await this.match(events));
    return { handled: deliveries + events.length, orders: orders || left };
  }

  /** Resolves when every start under way has been answered. */
  async settled(): Promise<void> {
    await Promise.all(this.starting);
  }

  /**
   * Judges events, all in one commit, or each alone when that fails: a bad one holds up nobody else. Those that very many automations
   * hear are taken in parts. True when orders were left.
   */
  private async match(events: HeardEvent[]): Promise<boolean> {
    const hearers = events.reduce((sum, { automations }) => sum + (automations?.length ?? 0), 0);
    if (events.length > 1 && hearers > MOST_RUNS) {
      const middle = Math.floor(events.length / 2);
      const left = await this.match(events.slice(0, middle));
      return (await this.match(events.slice(middle))) || left;
    }
    // Too many under way already: the others are anyone's, and wait their turn in the outbox.
    const dispatcher = this.starting.size < BATCH ? this.dispatcher() : undefined;
    try {
      const orders = await matchAutomations(this.services, events, dispatcher ? LEASE_SECONDS : null);
      if (!dispatcher) return orders.length > 0;
      for (const order of orders) this.start(dispatcher, order);
      return false;
    } catch (error) {
      const [event] = events;
      if (events.length === 1 && event) await this.postpone('event', error, [event.outbox_id]);
      let left = false;
      if (events.length > 1) for (const each of events) left = (await this.match([each])) || left;
      return left;
    }
  }

  private start(dispatcher: RunDispatcher, order: StartOrder): void {
    const started = this.dispatch(dispatcher, { ...order, kind: 'run.start', given_up: false })
      .then((done) => (done ? this.remove(order.outbox_id) : undefined))
      .catch((error: unknown) =>
        this.services.log.warn({ err: error, run_id: order.run_id }, 'start not noted, will be repeated'),
      )
      .finally(() => this.starting.delete(started));
    this.starting.add(started);
  }

  /** Forgets an order that was handed over; many at a time, as they come. */
  private remove(outboxId: number): Promise<void> {
    this.handed.push(outboxId);
    this.removing ??= this.removeHanded().finally(() => {
      this.removing = undefined;
    });
    return this.removing;
  }

  /** Not at once: that would take the time of the very action which was just started. */
  private async removeHanded(): Promise<void> {
    await sleep(REMOVE_AFTER_MS);
    while (this.handed.length > 0) await this.removeAll(this.handed.splice(0));
  }

  /**
   * Claims each delivery and works on it in the claim's own transaction: both happen or neither. One that fails waits, alone. Ends
   * after `BATCH`: the other kinds have their turn.
   */
  private async deliverAll(): Promise<number> {
    for (let handled = 0; handled < BATCH; handled += 1) {
      try {
        if (!(await this.deliver())) return handled;
      } catch (error) {
        const { rows } = await this.services.db.raw<{ rows: { outbox_id: number }[] }>(FIRST_DELIVERY);
        await this.postpone(
          'forge.delivery',
          error,
          rows.map((row) => row.outbox_id),
        );
      }
    }
    return BATCH;
  }

  private async postpone(kind: string, error: unknown, ids: number[]): Promise<void> {
    this.services.log.error({ err: error, kind }, 'outbox row failed');
    await this.services.db.raw(POSTPONE, [error instanceof Error ? error.message.slice(0, 500) : 'unknown', ids]);
  }

  /** False when none is due. */
  private deliver(): Promise<boolean> {
    return this.services.db.transaction(async (db: Knex) => {
      const [delivery] = await run<Delivery>(db, claimStatement, []);
      if (!delivery) return false;
      const ctx: Context = {
        ...this.services,
        db,
        actor: { type: 'system', name: 'forge' },
        requestId: uuidv7(),
        correlationId: delivery.correlation_id,
        ip: null,
        userAgent: null,
      };
      await applyDelivery(ctx, delivery.payload.receipt_id);
      return true;
    });
  }

  /**
   * One pass over what waits to be handed to Temporal: wakes, and starts that were not handed over as they were made. Without Temporal the rows wait; after OUTBOX_GIVE_UP_HOURS a start becomes a failed run
   * (F7). Returns the number of rows handled.
   */
  async handOver(): Promise<number> {
    const { db, config } = this.services;
    const dispatcher = this.dispatcher();
    if (dispatcher) this.lastLinked = Date.now();
    else return Date.now() - this.lastLinked >= this.giveUpAfterMs ? this.giveUp() : 0;
    const rows = await run<LeasedRow & Record<string, unknown>>(db, leaseStatement, [BATCH, config.OUTBOX_GIVE_UP_HOURS]);
    const done = await Promise.all(rows.map((row) => this.dispatch(dispatcher, row)));
    return this.removeAll(rows.filter((_, i) => done[i]).map((row) => row.outbox_id));
  }

  /** True when nothing is left to do for the row. */
  private async dispatch(dispatcher: RunDispatcher, row: LeasedRow): Promise<boolean> {
    const { db, log } = this.services;
    const { run_id, kind, outbox_id } = row;
    if (run_id === null) {
      log.warn({ kind, payload: row.payload }, 'nothing to dispatch: there is no such run');
      return true;
    }
    try {
      await dispatcher.dispatch({ ...row, run_id });
      return true;
    } catch (error) {
      log.warn({ err: error, run_id, kind }, 'not dispatched, will try again');
      if (row.given_up && kind === 'run.start') return this.fail(outbox_id, run_id);
      const last_error = String(error).slice(0, 500);
      await db('outbox').where({ outbox_id }).update({ last_error });
      return false;
    }
  }

  /** There was nobody to try with, so no try is made a last time. */
  private async giveUp(): Promise<number> {
    const { db, config } = this.services;
    const { rows } = await db.raw<{ rows: { outbox_id: number; run_id: string }[] }>(GIVEN_UP, [
      config.OUTBOX_GIVE_UP_HOURS,
      BATCH,
    ]);
    const failed: number[] = [];
    for (const { outbox_id, run_id } of rows) if (await this.fail(outbox_id, run_id)) failed.push(outbox_id);
    return this.removeAll(failed);
  }

  /** Ends the run of a start that was given up. False when that fails: it waits, and holds up no other. */
  private async fail(outboxId: number, runId: string): Promise<boolean> {
    try {
      await failDispatch(this.services, runId);
      return true;
    } catch (error) {
      await this.postpone('run.start', error, [outboxId]);
      return false;
    }
  }

  private async removeAll(ids: number[]): Promise<number> {
    if (ids.length > 0) await run(this.services.db, removeStatement, [ids]);
    return ids.length;
  }
}

import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { matchAutomations, type OutboxEvent } from '../api/automations/match-automations.js';
import type { Context, Services } from '../api/core/context.js';
import { applyDelivery } from '../api/forge/apply-delivery.js';
import { failDispatch } from '../api/automations/run/fail-dispatch.js';
import { run, type Statement } from '../db/statement.js';
import type { Dispatch, RunDispatcher } from './run-dispatcher.js';

/** Rows of one pass; more wait for the next, so that no kind starves another. */
export const BATCH = 100;
/** Seconds until a row is tried again, by attempts: quick at first, never more than a minute. */
const BACKOFF = 'least(60, power(2, least(attempts, 6)))';

interface OutboxRow extends OutboxEvent {
  kind: string;
  attempts: number;
}

type LeasedRow = Omit<Dispatch, 'run_id'> & { run_id: string | null; given_up: boolean };

/** Events dropped by one survey; more wait for the next. */
export const MOST_DROPPED = 1000;

/** What is due, after the events that nobody listens for were dropped. */
export interface Survey extends Record<string, unknown> {
  dropped: number;
  deliveries: boolean;
  events: boolean;
  /** Something waits for `handOver`. */
  hand_overs: boolean;
  /** Mails wait to be sent. */
  mails: boolean;
}

/**
 * Events nobody in their team listens for, by the family before the dot, are dropped in this one statement, without a transaction
 * of their own and without Temporal; what is left is matched exactly. The same round trip says what else is due, so that an event
 * that arms nothing costs no more than this.
 */
const surveyStatement: Statement = {
  name: 'survey_outbox',
  text: /* sql */ `
with idle as (
  delete from outbox where outbox_id = any(array(
    select o.outbox_id from outbox o
    where o.kind = 'event' and o.next_attempt_at <= now() and not exists (
      select from automations a
      where a.is_active and a.deleted_at is null and split_part(a.trigger_type, '.', 1) = split_part(o.subject, '.', 1)
        and (a.team_id = o.team_id or (a.team_id is null and a.created_by::text = o.payload->>'actor_id')))
    order by o.outbox_id limit ${MOST_DROPPED} for update skip locked))
  returning outbox_id
)
select (select count(*)::int from idle) as dropped,
  exists (select from outbox o where o.kind = 'forge.delivery' and o.next_attempt_at <= now()) as deliveries,
  exists (select from outbox o where o.kind = 'event' and o.next_attempt_at <= now()
    and o.outbox_id not in (select outbox_id from idle)) as events,
  exists (select from outbox o where o.kind not in ('event', 'forge.delivery') and o.next_attempt_at <= now()) as hand_overs,
  exists (select from mails where state = 'queued' and next_attempt_at <= now()) as mails`,
};

/** $1 kind, $2 most rows. */
const claimStatement: Statement = {
  name: 'claim_outbox',
  text: /* sql */ `
  delete from outbox where outbox_id = any(array(
    select outbox_id from outbox where kind = $1 and next_attempt_at <= now() order by outbox_id limit $2 for update skip locked))
  returning *`,
};

/** A lease, or its end, need not be on disk: if a crash takes it back the row is handed over again, which changes nothing. */
const RELAXED = `set_config('synchronous_commit', 'off', true) <> ''`;

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
  where kind = 'run.start' and created_at < now() - make_interval(hours => ?) order by outbox_id limit ?`;

/** Notes a failure on the rows and lets them wait; they are tried again, alone. */
const POSTPONE = /* sql */ `
  update outbox set attempts = attempts + 1, last_error = ?, next_attempt_at = now() + make_interval(secs => ${BACKOFF})
  where outbox_id = any(?)`;

/** The row that would be claimed next: the one to postpone when a claim of one failed. */
const FIRST_DUE = `select outbox_id from outbox where kind = ? and next_attempt_at <= now() order by outbox_id limit 1 for update skip locked`;

export class OutboxRelay {
  constructor(
    private readonly services: Services,
    /** Undefined while Temporal cannot be reached: database work goes on without it. */
    private readonly dispatcher: () => RunDispatcher | undefined,
    /** Without Temporal for this long, what is too old is given up: a worker that has just started may be linked in a moment. */
    private readonly giveUpAfterMs = 60_000,
  ) {}

  private lastLinked = Date.now();

  /** One pass over everything due that is database work. Returns the number of rows handled, 0 when there was nothing to do. */
  async pass(): Promise<number> {
    const due = await this.survey();
    return due.dropped + (await this.work(due));
  }

  /** Drops the events that arm nothing and says what else is due. */
  async survey(): Promise<Survey> {
    const [survey] = await run<Survey>(this.services.db, surveyStatement, []);
    return survey as Survey;
  }

  /** Works on the deliveries and events that are due. Returns how many; a full batch means that more may wait. */
  async work(due: Survey): Promise<number> {
    const deliveries = due.deliveries
      ? await this.inTransactions('forge.delivery', 1, (work, rows) => this.deliver(work, rows))
      : 0;
    // A delivery leaves events.
    const events =
      due.events || deliveries > 0 ? await this.inTransactions('event', BATCH, (work, rows) => matchAutomations(work, rows)) : 0;
    return deliveries + events;
  }

  /**
   * Claims rows of a kind and works on them in the claim's own transaction: both happen or neither. When a batch fails its rows
   * are tried one by one, so that a bad one holds up nobody else. Ends after `BATCH` rows: the other kinds have their turn.
   */
  private async inTransactions(
    kind: string,
    size: number,
    work: (services: Services, rows: OutboxRow[]) => Promise<unknown>,
  ): Promise<number> {
    let handled = 0;
    for (let limit = size; ; ) {
      try {
        const count = await this.claim(kind, limit, work);
        handled += count;
        if (count < limit || handled >= BATCH) return handled;
      } catch (error) {
        if (limit > 1) limit = 1;
        else handled += await this.postpone(kind, error);
      }
    }
  }

  private claim(kind: string, limit: number, work: (services: Services, rows: OutboxRow[]) => Promise<unknown>): Promise<number> {
    return this.services.db.transaction(async (db: Knex) => {
      const rows = await run<OutboxRow & Record<string, unknown>>(db, claimStatement, [kind, limit]);
      if (rows.length > 0) await work({ ...this.services, db }, rows);
      return rows.length;
    });
  }

  private async postpone(kind: string, error: unknown): Promise<number> {
    this.services.log.error({ err: error, kind }, 'outbox row failed');
    const { rows } = await this.services.db.raw<{ rows: { outbox_id: number }[] }>(FIRST_DUE, [kind]);
    const ids = rows.map((row) => row.outbox_id);
    await this.services.db.raw(POSTPONE, [error instanceof Error ? error.message.slice(0, 500) : 'unknown', ids]);
    return ids.length;
  }

  private async deliver(services: Services, rows: OutboxRow[]): Promise<void> {
    for (const row of rows) {
      const ctx: Context = {
        ...services,
        actor: { type: 'system', name: 'forge' },
        requestId: uuidv7(),
        correlationId: row.correlation_id,
        ip: null,
        userAgent: null,
      };
      await applyDelivery(ctx, String(row.payload['receipt_id']));
    }
  }

  /**
   * One pass over what is to be handed to Temporal: starts and wakes. Apart from `pass`, because a call to a Temporal that went
   * silent ends only after many seconds. Without Temporal the rows wait; after OUTBOX_GIVE_UP_HOURS a start becomes a failed run
   * (F7). Returns the number of rows handled.
   */
  async handOver(): Promise<number> {
    const { db, config } = this.services;
    const dispatcher = this.dispatcher();
    if (dispatcher) this.lastLinked = Date.now();
    else return Date.now() - this.lastLinked >= this.giveUpAfterMs ? this.giveUp() : 0;
    const rows = await run<LeasedRow & Record<string, unknown>>(db, leaseStatement, [BATCH, config.OUTBOX_GIVE_UP_HOURS]);
    const done = await Promise.all(rows.map((row) => this.dispatch(dispatcher, row)));
    return this.remove(rows.filter((_, i) => done[i]));
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
      if (row.given_up && kind === 'run.start') {
        await failDispatch(this.services, run_id);
        return true;
      }
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
    for (const { run_id } of rows) await failDispatch(this.services, run_id);
    return this.remove(rows);
  }

  private async remove(rows: { outbox_id: number }[]): Promise<number> {
    const ids = rows.map((row) => row.outbox_id);
    if (ids.length > 0) await run(this.services.db, removeStatement, [ids]);
    return ids.length;
  }
}

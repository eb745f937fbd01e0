import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import type { Services } from '../api/core/context.js';
import type { Dispatcher } from '../api/outbox/dispatch-outbox.js';
import { run, type Statement } from '../db/statement.js';
import { each } from './worker/each.js';

export interface ProjectionOptions {
  taskQueuePrefix: string;
  /** False if the cluster had no free slots for the search attributes. */
  searchable: boolean;
}

/** An outbox row: the subject's Schedule may differ from its row. */
interface Sync {
  outbox_id: number;
  subject: string;
}

/** $1 = leased rows. No table is joined: the Schedule may outlive its subject. */
const details: Statement = {
  name: 'schedule_dispatches',
  text: 'select outbox_id, subject from outbox where outbox_id = any($1::bigint[])',
};

/** $1 = kind, $2 = name of the id in the payload, $3 = ids. Enqueues those that have no row in the outbox yet. */
const requeueStatement: Statement = {
  name: 'requeue_schedules',
  text: /* sql */ `
    insert into outbox (kind, subject, payload, correlation_id)
    select $1::text, id, jsonb_build_object($2::text, id), uuidv7() from unnest($3::text[]) id
    where not exists (select from outbox o where o.kind = $1 and o.subject = id)
    returning outbox_id`,
};

/** Maintains one Temporal Schedule per row of a kind: a projection of the row, which alone decides. */
export abstract class ScheduleProjection<Row> implements Dispatcher<Sync> {
  readonly kinds: readonly string[];
  readonly details = details;

  constructor(
    protected readonly client: Client,
    protected readonly options: ProjectionOptions,
    private readonly kind: { outbox: string; id: string; what: string },
  ) {
    this.kinds = [kind.outbox];
  }

  /** Returns the id of a subject's Schedule; of the empty subject the common prefix. */
  protected abstract idOf(subject: string): string;
  protected abstract subjectOf(row: Row): string;
  /** Returns the note of a Schedule: shown to operators, and compared to detect an outdated Schedule. */
  protected abstract noteOf(row: Row): string;
  /** Returns all rows that have a Schedule. */
  protected abstract readAll(db: Services['db']): Promise<Row[]>;
  /** Returns the row of one subject; undefined if it has no Schedule. */
  protected abstract read(db: Services['db'], subject: string): Promise<Row | undefined>;
  /** Returns undefined for a row whose times this build cannot read. */
  protected abstract scheduleOf(row: Row): ScheduleOptions | undefined;

  /**
   * Compares all Schedules with the rows, at the start and periodically. Differences go through the outbox, which retries each
   * separately, so one that Temporal rejects does not block others. Returns the number enqueued.
   */
  async reconcile({ db, log, notifyRelay }: Services): Promise<number> {
    const rows = await this.readAll(db);
    const wanted = new Map(rows.map((row) => [this.idOf(this.subjectOf(row)), row]));
    const stale = new Set(rows.map((row) => this.subjectOf(row)));
    const prefix = this.idOf('');
    for await (const { scheduleId: id, state } of this.client.schedule.list()) {
      if (!id.startsWith(prefix)) continue;
      const subject = id.slice(prefix.length);
      const row = wanted.get(id);
      if (row !== undefined && state.note === this.noteOf(row)) stale.delete(subject);
      else stale.add(subject);
    }
    const differing: string[] = [];
    // The list may be behind; only a Schedule that is asked for itself differs.
    await each([...stale], async (subject) => {
      if (await this.differs(subject, wanted.get(this.idOf(subject)))) differing.push(subject);
    });
    if (differing.length === 0) return 0;
    const { length } = await run(db, requeueStatement, [this.kind.outbox, this.kind.id, differing]);
    if (length > 0) log.warn({ schedules: length }, `schedules differ from their ${this.kind.what}; reconciling`);
    notifyRelay();
    return length;
  }

  private async differs(subject: string, row: Row | undefined): Promise<boolean> {
    const wanted = row && this.scheduleOf(row) && this.noteOf(row);
    try {
      return (await this.client.schedule.getHandle(this.idOf(subject)).describe()).state.note !== wanted;
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return wanted !== undefined;
      throw error;
    }
  }

  /** Repeats until the row is unchanged by the end: another worker may project a newer one concurrently. */
  async dispatch({ subject }: Sync, { db }: Services): Promise<void> {
    for (let row = await this.read(db, subject); ; ) {
      await this.project(subject, row);
      const now = await this.read(db, subject);
      if ((row && this.noteOf(row)) === (now && this.noteOf(now))) return;
      row = now;
    }
  }

  private async project(subject: string, row: Row | undefined): Promise<void> {
    const handle = this.client.schedule.getHandle(this.idOf(subject));
    const options = row && this.scheduleOf(row);
    if (!options) {
      await handle.delete().catch((error: unknown) => {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      });
      return;
    }
    try {
      await this.client.schedule.create(options);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await update(handle, options);
    }
  }
}

async function update(handle: ScheduleHandle, { action, spec, policies, state }: ScheduleOptions): Promise<void> {
  await handle.update((before) => ({ ...before, action, spec, policies, state: { ...before.state, ...state } }) as never);
}

import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleHandle,
  ScheduleNotFoundError,
  type ScheduleOptions,
} from '@temporalio/client';
import type { Services } from '../api/platform/context.js';
import { Id } from '../api/platform/fields.js';
import type { Dispatcher } from '../api/platform/outbox/dispatch-outbox.js';
import type { OutboxKind } from '../api/platform/outbox/outbox.js';
import { defineStatement, run, type Statement } from '../db/statement.js';
import { taskQueue } from '../workflows/contracts/queues.js';
import type { DispatchOptions, Process, ProcessNote, ReconcilingDispatcher } from './process.js';
import { type Attributes, toAttributePairs } from './row-workflow.js';
import { each } from './worker/each.js';

/** An outbox row: the subject's Schedule may differ from its row. */
interface Sync {
  outbox_id: number;
  subject: string;
}

/** $1 = leased rows. No table is joined: the Schedule may outlive its subject. */
const details = defineStatement({
  name: 'schedule_dispatches',
  text: 'select outbox_id, subject from outbox where outbox_id = any($1::bigint[])',
});

/** $1 = kind, $2 = name of the id in the payload, $3 = ids. Enqueues those that have no row in the outbox yet. */
const requeueStatement = defineStatement({
  name: 'requeue_schedules',
  text: /* sql */ `
    insert into outbox (kind, subject, payload, correlation_id)
    select $1::text, id, jsonb_build_object($2::text, id), uuidv7() from unnest($3::text[]) id
    where not exists (select from outbox o where o.kind = $1 and o.subject = id)
    returning outbox_id`,
});

/** A Temporal Schedule per row of a kind: a projection of the row, which alone decides. */
interface ScheduleProjection<Row extends object> extends Pick<Process, 'activities'> {
  note: ProcessNote;
  /** Name of the rows in the log, in the plural. */
  plural: string;
  /** Kind of the outbox rows, whose payload has the key. */
  kind: OutboxKind;
  /** Name of the column that identifies a row: the only argument of the workflow. */
  key: keyof Row & string;
  /** Returns the id of a row's Schedule and the beginning of its workflow ids; of the empty key the common prefix. */
  getId: (prefix: string, key: string) => string;
  /** All rows that have a Schedule. */
  all: Statement;
  /** $1 = key. The row, if it has a Schedule. */
  one: Statement;
  /** Returns undefined for a row whose times this build cannot read. */
  parseTimes: (row: Row) => ScheduleOptions['spec'] | undefined;
  /** Returns the note of a Schedule: shown to operators, and compared to detect an outdated Schedule. */
  buildNote: (row: Row) => string;
  policies: Pick<NonNullable<ScheduleOptions['policies']>, 'overlap' | 'catchupWindow'>;
  /** Workflow type. */
  workflow: string;
  summary: (row: Row) => string;
  details?: (row: Row) => string;
  /** The process is added. */
  attributes: (row: Row) => Attributes;
}

/** Declares rows that have a Temporal Schedule (activities/processes.ts). */
export const defineScheduleProjection = <Row extends object>(declared: ScheduleProjection<Row>): Process => ({
  notes: [declared.note],
  // The next time comes by itself, so that no row waits for a workflow.
  invariants: [],
  activities: declared.activities,
  connect: (client, options) => new Projector(declared, client, options) as unknown as ReconcilingDispatcher,
});

/** Maintains the Schedules of a kind. */
class Projector<Row extends object> implements Dispatcher<Sync> {
  readonly kinds: readonly string[];
  readonly details = details;

  constructor(
    private readonly declared: ScheduleProjection<Row>,
    private readonly client: Client,
    private readonly options: DispatchOptions,
  ) {
    this.kinds = [declared.kind];
  }

  private readonly getId = (key: string): string => this.declared.getId(this.options.taskQueuePrefix, key);
  private readonly getKey = (row: Row): string => String(row[this.declared.key]);

  private async read(db: Services['db'], key: string): Promise<Row | undefined> {
    const { one } = this.declared;
    return ((await run(db, one, [Id.parse(key)])) as Row[])[0];
  }

  private buildSchedule(row: Row): ScheduleOptions | undefined {
    const { note, parseTimes, buildNote, policies, workflow, summary, details: buildDetails, attributes } = this.declared;
    const spec = parseTimes(row);
    if (!spec) return undefined;
    const { taskQueuePrefix, searchable } = this.options;
    const id = this.getId(this.getKey(row));
    return {
      scheduleId: id,
      spec,
      action: {
        type: 'startWorkflow',
        workflowType: workflow,
        workflowId: id,
        taskQueue: taskQueue(taskQueuePrefix, 'core'),
        args: [this.getKey(row)],
        staticSummary: summary(row),
        ...(buildDetails && { staticDetails: buildDetails(row) }),
        ...(searchable && { typedSearchAttributes: toAttributePairs({ Process: note.process, ...attributes(row) }) }),
      },
      policies: { ...policies, pauseOnFailure: false },
      state: { note: buildNote(row) },
    };
  }

  /**
   * Compares all Schedules with the rows, at the start and periodically. Differences go through the outbox, which retries each
   * separately, so one that Temporal rejects does not block others. Returns the number enqueued.
   */
  async reconcile({ db, log, notifyRelay }: Services): Promise<number> {
    const { all, kind, key, plural, buildNote } = this.declared;
    const rows = (await run(db, all, [])) as Row[];
    const wanted = new Map(rows.map((row) => [this.getId(this.getKey(row)), row]));
    const stale = new Set(rows.map((row) => this.getKey(row)));
    const prefix = this.getId('');
    for await (const { scheduleId: id, state } of this.client.schedule.list()) {
      if (!id.startsWith(prefix)) continue;
      const subject = id.slice(prefix.length);
      const row = wanted.get(id);
      if (row !== undefined && state.note === buildNote(row)) stale.delete(subject);
      else stale.add(subject);
    }
    const differing: string[] = [];
    // The list may be behind; only a Schedule that is asked for itself differs.
    await each([...stale], async (subject) => {
      if (await this.differs(subject, wanted.get(this.getId(subject)))) differing.push(subject);
    });
    if (differing.length === 0) return 0;
    const { length } = await run(db, requeueStatement, [kind, key, differing]);
    if (length > 0) log.warn({ schedules: length }, `schedules differ from their ${plural}; reconciling`);
    notifyRelay();
    return length;
  }

  private async differs(subject: string, row: Row | undefined): Promise<boolean> {
    const wanted = row && this.buildSchedule(row) && this.declared.buildNote(row);
    try {
      return (await this.client.schedule.getHandle(this.getId(subject)).describe()).state.note !== wanted;
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
      if ((row && this.declared.buildNote(row)) === (now && this.declared.buildNote(now))) return;
      row = now;
    }
  }

  private async project(subject: string, row: Row | undefined): Promise<void> {
    const handle = this.client.schedule.getHandle(this.getId(subject));
    const options = row && this.buildSchedule(row);
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

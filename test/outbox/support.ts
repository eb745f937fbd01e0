import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { OutboxRelay, type RelayOptions } from '../../activities/worker/outbox-relay.js';
import { abandonedRuns, type Dispatch } from '../../activities/runs/automation-runs.js';
import type { AnyDispatcher } from '../../api/platform/outbox/dispatch-outbox.js';
import { openDatabase } from '../../db/connection.js';
import type { TestApp } from '../support/app.js';

/** Rounds of each fault point; more by OUTBOX_ROUNDS. */
const ROUNDS = Number(process.env['OUTBOX_ROUNDS'] ?? 5);

/** Runs a fault point several times over. */
export const rounds =
  (work: (round: number) => Promise<void>, count = ROUNDS): (() => Promise<void>) =>
  async () => {
    for (let round = 0; round < count; round += 1) await work(round);
  };

/** A relay with connections of its own, which can be killed under it. */
export interface KillableRelay {
  relay: OutboxRelay;
  /** Ends its connections on the server, as a killed process or a killed server does. */
  kill: () => Promise<void>;
  /** Begins the work until one of its statements is seen to wait for a lock: a pass gives up after 100 ms. Returns that work's end. */
  begin: (work: () => Promise<unknown>) => Promise<{ ended: Promise<unknown> }>;
  /** Passes until there is nothing left to do. */
  drain: () => Promise<void>;
  close: () => Promise<void>;
}

type DispatchRow = (row: Dispatch) => Promise<void>;

/** `dispatch` undefined: Temporal cannot be reached. */
export function openRelay(app: TestApp, dispatch?: DispatchRow, options: RelayOptions = {}): KillableRelay {
  const name = `relay-${randomUUID().slice(0, 8)}`;
  const db: Knex = openDatabase({ url: app.database.url, poolSize: 4, name, acquireTimeoutMs: 30_000 });
  const runs = { ...abandonedRuns(app.services.config.OUTBOX_GIVE_UP_HOURS), kinds: ['run.start', 'run.wake'], dispatch };
  const dispatchers = dispatch ? [runs as unknown as AnyDispatcher] : [];
  const relay = new OutboxRelay({ ...app.services, db }, () => dispatchers, { giveUpAfterMs: 0, ...options });
  return {
    relay,
    kill: () => killConnections(app, name),
    async begin(work) {
      const sql =
        "select from pg_stat_activity where application_name = ? and wait_event_type = 'Lock' and datname = current_database()";
      for (;;) {
        let isOver = false;
        const ended = work()
          .catch((error: unknown) => error)
          .finally(() => {
            isOver = true;
          });
        while (!isOver) if ((await app.services.db.raw<{ rowCount: number }>(sql, [name])).rowCount > 0) return { ended };
        await makeDue(app);
      }
    },
    async drain() {
      while ((await relay.pass()) + (await relay.dispatch()) > 0);
    },
    close: () => db.destroy(),
  };
}

/** Ends every connection with this name on the server. */
export async function killConnections(app: TestApp, name: string): Promise<void> {
  // Other test files have connections of the same name to databases of their own.
  const ours = 'select pid from pg_stat_activity where application_name = ? and datname = current_database()';
  await app.services.db.raw(`select pg_terminate_backend(pid) from (${ours}) ours`, [name]);
}

/** Makes everything in the outbox due now: time goes by. */
export const makeDue = (app: TestApp) => app.services.db('outbox').update({ next_attempt_at: app.services.db.fn.now() });

/** Everything in the outbox is as old as this. */
export const age = (app: TestApp, hours: number) =>
  app.services.db('outbox').update({ created_at: app.services.db.raw('now() - make_interval(hours => ?)', [hours]) });

/** Puts an order into the outbox by hand, as an operator would. */
export const replay = (app: TestApp, kind: 'run.start' | 'run.wake', run: { run_id: string }, more: object = {}) =>
  app.services.db('outbox').insert({
    kind,
    subject: run.run_id,
    payload: JSON.stringify({ run_id: run.run_id, incarnation: 1, ...more }),
    correlation_id: uuidv7(),
  });

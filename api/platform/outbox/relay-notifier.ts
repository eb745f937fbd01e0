import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';
import type { Services } from '../context.js';

/** Channel on which the worker's relay and sealer listen. */
export const OUTBOX_CHANNEL = 'assent_outbox';
const notify = defineStatement({ name: 'notify_outbox', text: `notify ${OUTBOX_CHANNEL}` });
/** Payload of a notification about rows for Temporal. */
export const DISPATCH = 'dispatch';
const notifyDispatch = defineStatement({ name: 'notify_outbox_dispatch', text: `notify ${OUTBOX_CHANNEL}, '${DISPATCH}'` });
/** Minimum interval between notifications, ms: the first of a burst goes out at once, the rest share one. */
const REST_MS = 5;

/**
 * Returns a function that notifies the relay after a commit. Calls during or shortly after a NOTIFY share the next one. A NOTIFY
 * inside the writing transaction would never be lost, but takes a database-wide lock until the commit is on disk, which would
 * serialize all writers. A lost notification costs at most the relay's one-second polling interval
 * (docs/adr/0003-notify-after-commit.md).
 */
export function createRelayNotifier(db: Knex): Services['notifyRelay'] {
  let isSending = false;
  let isRequested = false;
  let dispatches = false;
  const send = async (): Promise<void> => {
    isSending = true;
    do {
      isRequested = false;
      const statement = dispatches ? notifyDispatch : notify;
      dispatches = false;
      await run(db, statement, []).catch(() => undefined);
      await sleep(REST_MS, undefined, { ref: false });
    } while (isRequested);
    isSending = false;
  };
  return (what) => {
    isRequested = true;
    dispatches ||= what === 'dispatch';
    if (!isSending) void send();
  };
}

/** Task queues, priorities and headers that all workflows share. */

const TASK_QUEUES = { core: 'core', outbound: 'outbound', imports: 'imports' } as const;
/** Returns a queue's name with TASK_QUEUE_PREFIX, which separates installations and test files on one server. */
export const taskQueue = (prefix: string, queue: keyof typeof TASK_QUEUES): string => `${prefix}${TASK_QUEUES[queue]}`;

const beside = (core: string, queue: keyof typeof TASK_QUEUES): string =>
  taskQueue(core.slice(0, core.length - TASK_QUEUES.core.length), queue);
/** Returns the outbound queue that belongs to a workflow's own queue. */
export const outboundQueue = (core: string): string => beside(core, 'outbound');
/** Returns the queue of imports and their undo, which belongs to a workflow's own queue. */
export const importQueue = (core: string): string => beside(core, 'imports');

/**
 * Priority of what a person waits for who wants something back, before the default of 3: it does not wait behind all runs of its own team. Only for
 * workflows of which a team has one at a time, for others wait meanwhile.
 */
export const REMEDY_PRIORITY = 2;

/**
 * Heartbeats of outbound actions: if a worker dies, the attempt is retried after the missed heartbeats, before its whole timeout.
 */
export const OUTBOUND_HEARTBEAT = { everyMs: 3_000, missedAfterMs: 10_000 } as const;

/** Header and memo key of the id of the original request. */
export const CORRELATION_HEADER = 'correlation-id';

import type { Client } from '@temporalio/client';
import type { Knex } from 'knex';
import type { Services } from '../api/platform/context.js';
import type { AnyDispatcher } from '../api/platform/outbox/dispatch-outbox.js';
import type { OutboundTurns } from './team-slots.js';
import type { PassKind } from './worker/reconcile-loop.js';

/** What each dispatcher knows of the connection. */
export interface DispatchOptions {
  taskQueuePrefix: string;
  /** False if the cluster had no free slots for the search attributes. */
  searchable: boolean;
  /** Starts workflows in the worker's own process, without the matching service; needs the worker's connection. */
  eager: boolean;
  /** Hours after which a start that Temporal refuses is abandoned. */
  giveUpHours: number;
}

/** A dispatcher that also restores what Temporal has lost. Returns the number of rows restarted or enqueued. */
export interface ReconcilingDispatcher extends AnyDispatcher {
  reconcile: (services: Services, pass?: PassKind) => Promise<number>;
}

/** A row of the table of processes in docs/operate/runs.md. */
export interface ProcessNote {
  /** Value of the search attribute `Process`. */
  process: string;
  /** Workflow id, with the name of the column in angle brackets. */
  workflowId: string;
  shows: string;
}

/** A condition between rows and workflows that holds whenever the system is idle (scripts/chaos/invariants.ts). */
export interface WorkflowInvariant {
  name: string;
  words: string;
  /** Ids of rows, in the column `violation`, that should have had an open workflow for 60 s. */
  sql: string;
  buildWorkflowId: (id: string) => string;
}

/** What the activities of a worker process share. */
interface WorkerResources {
  /** The pool of exports (activities/bulk.ts). */
  exportDb: Knex;
  /** Slots of the queue `outbound`, shared among teams. */
  outboundTurns: OutboundTurns;
}

type Queue = 'core' | 'outbound' | 'imports';

/** A kind of workflow that the worker dispatches, restores and performs. */
export interface Process {
  notes: readonly ProcessNote[];
  invariants: readonly WorkflowInvariant[];
  /** Activities by task queue. */
  activities: Partial<Record<Queue, (services: Services, resources: WorkerResources) => object>>;
  connect: (client: Client, options: DispatchOptions) => ReconcilingDispatcher;
}

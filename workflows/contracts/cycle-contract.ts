/** Names and shapes of the clock of a cycle. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start or wake the workflow that completes an active cycle at its end date. Written by a database trigger. */
    'cycle.clock': { cycle_id: string };
  }
}

/** Workflow type that completes an active cycle at the end of its last day. */
export const CYCLE_CLOCK = 'cycleClock';
export const cycleWorkflowId = (cycleId: string): string => `cycle:${cycleId}`;
/** Both only wake the workflow, which reads the row again. */
export const CYCLE_SIGNALS = { datesChanged: 'datesChanged', completed: 'completed' } as const;

export interface CycleClockInput extends Searchable {
  cycleId: string;
  /** Rounds before the workflow continues as new; fewer in tests. */
  rounds?: number;
}

/** State of a cycle after it was completed if that was due. Ids, counts, dates and codes only. */
export interface CycleView {
  /** `resting`: its project is in the trash. `off`: no date completes it any more. `gone`: there is no such cycle. */
  state: 'waiting' | 'resting' | 'completed' | 'off' | 'gone';
  number: number;
  /** End of its last day, UTC; null if no date completes it. */
  dueAt: string | null;
  /** Milliseconds until then by the database's clock. */
  msLeft: number;
  tasks: number;
  done: number;
  /** Of a completed cycle: open tasks that rolled over. */
  carriedOver: number | null;
  completedAt: string | null;
}

export interface CycleActivities {
  /** Completes the cycle if its time has come. May be repeated. */
  completeDueCycle(cycleId: string): Promise<CycleView>;
}

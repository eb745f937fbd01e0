/** Names and shapes of a staged plan. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start the workflow of a staged plan. */
    'plan.start': { action_id: string; incarnation: number };
    /** Wake it after a decision. */
    'plan.wake': { action_id: string; incarnation: number };
  }
}

/** Workflow type of a staged plan, which waits for a decision. */
export const AGENT_PLAN = 'agentPlan';
export const planWorkflowId = (actionId: string): string => `plan:${actionId}`;
export interface AgentPlanInput extends Searchable {
  actionId: string;
}
/** State of a plan, read from its row. Ids, counts and codes only. */
export interface PlanView {
  /** `gone`: there is no such plan. */
  state: 'staged' | 'applied' | 'discarded' | 'stale' | 'expired' | 'gone';
  /** Milliseconds until the next change by time, by the database's clock; 0 if none. */
  msLeft: number;
  /** The next change is the reminder. */
  reminds: boolean;
  expiresAt: string | null;
  source: string | null;
  changes: number;
  /** Changes of high risk. */
  high: number;
  decidedBy: string | null;
  decidedAt: string | null;
  /** Why it was discarded: `person`, `superseded`, `source_gone`. */
  reason: string | null;
}
export interface PlanActivities {
  /** Reminds of the plan, or expires it, if its time has come. */
  readPlan(actionId: string): Promise<PlanView>;
}

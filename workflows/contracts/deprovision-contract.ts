/** Names and shapes of the deprovisioning of a user. */
import type { Searchable } from './searchable.js';

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Start the workflow that deprovisions a user. */
    'user.deprovision': { job_id: string };
  }
}

/** Workflow type of the deprovisioning of a user. */
export const USER_DEPROVISION = 'userDeprovision';
export const deprovisionWorkflowId = (userId: string): string => `deprov:${userId}`;
export interface DeprovisionInput extends Searchable {
  jobId: string;
}
/** Each step is an activity of this name, so that a history reads like the process. */
export type DeprovisionStepName = 'revokeTokens' | 'endSessions' | 'deactivateAutomations' | 'leaveTeam' | 'askOthers';
export interface DeprovisionStep {
  step: DeprovisionStepName;
  /** For steps done per team; null for the others. */
  teamId: string | null;
}
/** Numbers and ids only. */
export type DeprovisionResult = Record<string, number | string | null>;
export interface DeprovisionPlan {
  userId: string;
  /** Steps done by earlier executions. */
  done: (DeprovisionStep & { result: DeprovisionResult })[];
  /** Remaining steps; empty if the job has succeeded. */
  steps: DeprovisionStep[];
}
/** Performs the step, or returns the result of its first execution. */
export type DeprovisionActivity = (jobId: string, teamId: string | null) => Promise<DeprovisionResult>;
export interface DeprovisionActivities {
  /** Marks the job as running, or as done if no step remains; returns null if it has ended. */
  planDeprovision(jobId: string): Promise<DeprovisionPlan | null>;
}

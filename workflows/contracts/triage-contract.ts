/** Names and shapes of both triages. */

/** Rows of the outbox, by kind. */
declare module '../../api/platform/outbox/outbox.js' {
  interface OutboxPayloads {
    /** Update the Temporal Schedule of a team's overnight triage. */
    'triage.sync': { team_id: string };
    /** Start or wake the triage of a failed CI run, of which this is a delivery. */
    'triage.ci': { team_id: string; receipt_id: string };
  }
}

/** Workflow type of one night of a team's triage, and the id of its schedule. Temporal adds the nominal time to the workflow's id. */
export const OVERNIGHT_TRIAGE = 'overnightTriage';
export const triageScheduleId = (prefix: string, teamId: string): string => `${prefix}triage:${teamId}`;

/** Result of a triage. Ids, counts and codes only. */
export interface TriageResult {
  /**
   * `nothing`: nothing to propose. `done`: the night or the run has its plan already. `off`: not enabled. `blocked`: nobody may write in
   * its name. `refused`: the plan could not be staged, with the code.
   */
  outcome: 'proposed' | 'nothing' | 'done' | 'off' | 'blocked' | 'refused';
  actionId?: string;
  changes?: number;
  risk?: string;
  code?: string;
}
export interface TriageActivities {
  /** Stages the plan of the night with this nominal time. */
  triageNight(teamId: string, nominalTime: string): Promise<TriageResult>;
  /** Stages the plan of a failed CI run, of which this is the last delivery. */
  triageFailure(teamId: string, receiptId: string): Promise<TriageResult>;
}

/** Workflow type of the triage of one failed CI run. */
export const CI_TRIAGE = 'ciTriage';
/** Signal with the id of the receipt of a further delivery of the run. */
export const CI_FAILED_SIGNAL = 'failed';
export interface CiTriageInput {
  teamId: string;
  /** Quiet time after the last delivery, ms. */
  debounceMs: number;
}
export const ciTriageWorkflowId = (repoHash: string, forgeRunId: string): string => `ci:${repoHash}:${forgeRunId}`;

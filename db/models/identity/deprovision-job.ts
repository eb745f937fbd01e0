import { BaseModel } from '../base.js';

/** A job that deprovisions a user; a workflow drives it. A user has at most one. */
export class DeprovisionJob extends BaseModel {
  static override readonly tableName = 'deprovision_jobs';
  static override readonly idColumn = 'job_id';

  declare job_id: string;
  declare user_id: string;
  /** The successor. */
  declare reassign_to: string | null;
  declare reason: string;
  /** Null: requested from the command line. */
  declare requested_by: string | null;
  declare correlation_id: string;
  declare status: 'queued' | 'running' | 'succeeded';
  declare created_at: Date;
  declare started_at: Date | null;
  declare finished_at: Date | null;
}

/** A completed step of a job; inserted with the step's changes. */
export class DeprovisionStepRow extends BaseModel {
  static override readonly tableName = 'deprovision_steps';
  static override readonly idColumn = ['job_id', 'step', 'team_id'];
  static override readonly jsonAttributes = ['result'];

  declare job_id: string;
  declare step: 'revokeTokens' | 'endSessions' | 'deactivateAutomations' | 'leaveTeam' | 'askOthers';
  /** Null for a step that concerns no team. */
  declare team_id: string | null;
  declare result: Record<string, number | string | null>;
  declare done_at: Date;
}

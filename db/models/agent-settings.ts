import { BaseModel } from './base.js';

/** How the agent works for a team. A team without a row has the defaults. */
export class AgentSettings extends BaseModel {
  static override readonly tableName = 'agent_settings';
  static override readonly idColumn = 'team_id';

  declare team_id: string;
  declare overnight_enabled: boolean;
  /** Five fields, at most one time a day, in `overnight_timezone`. */
  declare overnight_cron: string;
  declare overnight_timezone: string;
  /** Whose permissions the overnight triage uses. */
  declare overnight_enabled_by: string | null;
  declare ci_enabled: boolean;
  /** Messages a month; null for no limit. */
  declare monthly_message_quota: number | null;
  /** An admin allows a model outside this installation to read the team's words. */
  declare external_model: boolean;
  declare external_model_by: string | null;
  declare updated_at: Date;
}

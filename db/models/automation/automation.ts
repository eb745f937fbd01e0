import { BaseModel } from '../base.js';

/** A stored action: `params` are separate from the rest, whichever notation the caller used. */
export interface StoredAction {
  type: string;
  name?: string | undefined;
  /** Its condition; absent if it is always performed. */
  if?: string | undefined;
  params: Record<string, unknown>;
  on_failure: 'continue' | 'stop';
  retry?: { max_attempts: number } | undefined;
}

/** An automation: trigger, condition and actions. Without a team it is personal and receives its creator's events only. */
export class Automation extends BaseModel {
  static override readonly tableName = 'automations';
  static override readonly idColumn = 'automation_id';
  static override readonly jsonAttributes = ['trigger_config', 'actions'];

  declare automation_id: string;
  declare name: string;
  declare description: string | null;
  declare trigger_type: string;
  declare trigger_config: Record<string, unknown>;
  declare condition: string | null;
  declare actions: StoredAction[];
  declare is_active: boolean;
  declare schedule_cron: string | null;
  declare schedule_timezone: string;
  declare team_id: string | null;
  declare project_id: string | null;
  declare version: number;
  declare created_by: string;
  declare created_at: Date;
  declare updated_by: string;
  declare updated_at: Date;
  declare disabled_reason: string | null;
  /** Only team admins change it. */
  declare is_protected: boolean;
  /** Users who enabled it, and who changed its schedule or took it over since, with the users behind them. */
  declare enabled_by: string[];
  declare deleted_at: Date | null;
}

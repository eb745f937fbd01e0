import type { StoredAction } from './automation.js';
import { BaseModel } from '../base.js';

/** A saved version of an automation. Runs are pinned to one, so later edits never affect them. */
export class AutomationVersion extends BaseModel {
  static override readonly tableName = 'automation_versions';
  static override readonly idColumn = ['automation_id', 'version'];
  static override readonly jsonAttributes = ['trigger_config', 'actions'];

  declare automation_id: string;
  declare version: number;
  declare name: string;
  declare trigger_type: string;
  declare trigger_config: Record<string, unknown>;
  declare condition: string | null;
  declare actions: StoredAction[];
  declare schedule_cron: string | null;
  declare schedule_timezone: string;
  declare changed_by: string;
  /** Authors of the actions that this version only repeats. */
  declare co_authors: string[];
  declare changed_at: Date;
  declare change_note: string | null;
  declare restored_from: number | null;
  /** Users who saved its actions, besides `changed_by`, who gave none. */
  declare actions_kept_from: string[];
}

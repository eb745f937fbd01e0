import { BaseModel } from './base.js';

/** An endpoint outside that receives a team's events. */
export class Webhook extends BaseModel {
  static override readonly tableName = 'webhooks';
  static override readonly idColumn = 'webhook_id';

  declare webhook_id: string;
  declare team_id: string;
  declare url: string;
  declare description: string | null;
  declare format: 'json' | 'slack';
  /** Exact names, `family.*` or `*`, as written by the caller. */
  declare events: string[];
  /** Names in `event_types` that amount to one of them; a trigger sets them. */
  declare event_types: string[];
  /** Increased by every change of the events; a trigger does so. */
  declare version: number;
  declare is_active: boolean;
  declare disabled_reason: 'gone' | 'failing' | null;
  declare data_key: Buffer;
  declare sealed_value: Buffer;
  /** The secret before the last rotation; it also signs until `previous_until`. */
  declare previous_data_key: Buffer | null;
  declare previous_sealed_value: Buffer | null;
  declare previous_until: Date | null;
  declare secret_prefix: string;
  declare created_by: string;
  declare created_at: Date;
  declare updated_at: Date;
}

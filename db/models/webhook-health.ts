import { BaseModel } from './base.js';

/** How the last deliveries to an endpoint went; created with it. */
export class WebhookHealth extends BaseModel {
  static override readonly tableName = 'webhook_health';
  static override readonly idColumn = 'webhook_id';

  declare webhook_id: string;
  /** Failed attempts since the last success. */
  declare failure_count: number;
  /** The first of them. */
  declare failing_since: Date | null;
  declare last_success_at: Date | null;
  declare last_failure_at: Date | null;
  /** The last email to the admins that it was disabled. */
  declare mailed_at: Date | null;
}

import { BaseModel } from './base.js';

/** A program on a machine of a team that asks for jobs. */
export class Runner extends BaseModel {
  static override readonly tableName = 'runners';
  static override readonly idColumn = 'runner_id';

  declare runner_id: string;
  declare team_id: string;
  declare name: string;
  declare labels: string[];
  declare version: string;
  declare token_hash: Buffer;
  /** The admin whose registration token it used. */
  declare created_by: string;
  declare created_at: Date;
  declare last_seen_at: Date | null;
}

/** A token that registers one runner. */
export class RunnerRegistrationToken extends BaseModel {
  static override readonly tableName = 'runner_registration_tokens';
  static override readonly idColumn = 'token_hash';

  declare token_hash: Buffer;
  declare team_id: string;
  declare created_by: string;
  declare expires_at: Date;
}

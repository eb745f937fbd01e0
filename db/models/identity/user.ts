import { BaseModel } from '../base.js';

/** A person's account. The address is lower case. */
export class User extends BaseModel {
  static override readonly tableName = 'users';
  static override readonly idColumn = 'user_id';
  static override readonly jsonAttributes = ['preferences'];

  declare user_id: string;
  declare email: string;
  declare name: string;
  declare username: string;
  declare display_name: string;
  declare avatar: string;
  declare role: 'user' | 'admin';
  declare status: 'active' | 'suspended' | 'deprovisioned';
  declare password_hash: string | null;
  /** Encrypted. Set by the enrollment, before the second factor is enabled. */
  declare two_factor_secret: Buffer | null;
  declare two_factor_enabled_at: Date | null;
  /** Time step of the last accepted code; earlier ones are refused. */
  declare two_factor_step: number | null;
  declare login_otp_exempt: boolean;
  declare preferences: Record<string, unknown>;
  declare created_at: Date;
}

/** A code that replaces the authenticator once; its use deletes it. */
export class RecoveryCode extends BaseModel {
  static override readonly tableName = 'recovery_codes';
  static override readonly idColumn = ['user_id', 'code_hash'];

  declare user_id: string;
  declare code_hash: Buffer;
}

/** A device on which its owner signs in without an emailed code. */
export class TrustedDevice extends BaseModel {
  static override readonly tableName = 'trusted_devices';
  static override readonly idColumn = 'device_id';

  declare device_id: string;
  declare user_id: string;
  declare token_hash: Buffer;
  declare ip_address: string | null;
  declare user_agent: string | null;
  declare created_at: Date;
  declare last_seen_at: Date;
  declare expires_at: Date;
}

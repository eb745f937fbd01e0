import { BaseModel } from '../base.js';

/** A secret of a team. Its value is encrypted under a key of its own, and that key under a master key. */
export class TeamSecret extends BaseModel {
  static override readonly tableName = 'team_secrets';
  static override readonly idColumn = ['team_id', 'name'];

  declare team_id: string;
  declare name: string;
  declare data_key: Buffer;
  declare sealed_value: Buffer;
  declare created_at: Date;
  declare updated_at: Date;
  declare updated_by: string;
  /** Without hosts only definitions that a team admin saved may use it, for any host. */
  declare allowed_hosts: string[];
}

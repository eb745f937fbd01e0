import { BaseModel } from '../base.js';

/** An action of a run. */
export class RunAction extends BaseModel {
  static override readonly tableName = 'run_actions';
  static override readonly idColumn = ['run_id', 'index'];
  static override readonly jsonAttributes = ['output', 'error'];

  declare run_id: string;
  declare index: number;
  declare type: string;
  declare name: string | null;
  declare on_failure: 'continue' | 'stop';
  declare status: 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped' | 'staged';
  declare attempts: number;
  declare started_at: Date | null;
  declare finished_at: Date | null;
  declare output: Record<string, unknown> | null;
  declare error: { code: string; message: string } | null;
  /** When it continues: the end of a delay, or a retry. */
  declare due_at: Date | null;
}

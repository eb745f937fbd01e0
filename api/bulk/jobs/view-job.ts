import { run } from '../../../db/statement.js';
import type { BulkView } from '../../../workflows/contracts/bulk-contract.js';
import type { Services } from '../../platform/context.js';
import { viewJobStatement } from './progress.sql.js';

interface Row extends Record<string, unknown> {
  status: Exclude<BulkView['status'], 'gone'>;
  total: number | null;
  processed: number;
  attempt: number;
  error_code: string | null;
}

/** Returns the state of a job for the details of its workflow: counts and codes only. */
export async function viewJob({ db }: Pick<Services, 'db'>, jobId: string): Promise<BulkView> {
  const [row] = await run<Row>(db, viewJobStatement, [jobId]);
  if (!row) return { status: 'gone', total: null, processed: 0, attempt: 0, code: null };
  const { status, total, processed, attempt, error_code: code } = row;
  return { status, total, processed, attempt, code };
}

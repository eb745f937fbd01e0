import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';
import { dryRunOutput } from '../../actions/dry-run-output.js';
import type { RunRow } from './load-run.js';

/** $1 = run id, $2 = index, $3 = output (jsonb). A dry run has one attempt. */
const dryRunStatement = defineStatement({
  name: 'record_dry_run',
  text: `update run_actions set status = 'succeeded', attempts = 1, output = $3::jsonb, finished_at = now() where run_id = $1 and index = $2`,
});

/** Records what an action of a test run would have done. */
export async function recordDryRun(db: Knex, { run_id }: RunRow, index: number, label: string, params: unknown): Promise<void> {
  await run(db, dryRunStatement, [run_id, index, JSON.stringify(dryRunOutput(label, params))]);
}

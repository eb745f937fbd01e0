import type { Knex } from 'knex';
import { defineStatement, run } from './statement.js';

export interface PartitionReport {
  made: number;
  dropped: number;
  /** One line for each partition that could not be made or dropped; the next call tries again. */
  problems: string[];
}

const list = defineStatement({ name: 'partition_plans', text: 'select table_name from partition_plans order by table_name' });
/** $1 = table. */
const maintain = defineStatement({
  name: 'maintain_partitions',
  text: 'select made, dropped, problems from maintain_partitions($1)',
});

/**
 * Creates the partitions of the present and the next months or days of every partitioned table, and drops expired ones; audit entries are
 * never dropped (docs/decisions/platform.md#growth). One transaction a table, so that no lock outlasts its work. Idempotent; any role of the service may call it.
 * @throws any error of `pg`, except that a table in use or an occupied default partition is a problem of the report
 */
export async function maintainPartitions(db: Knex): Promise<PartitionReport> {
  const report: PartitionReport = { made: 0, dropped: 0, problems: [] };
  for (const { table_name } of await run<{ table_name: string }>(db, list, [])) {
    const [done] = await run<PartitionReport & Record<string, unknown>>(db, maintain, [table_name]);
    report.made += done?.made ?? 0;
    report.dropped += done?.dropped ?? 0;
    report.problems.push(...(done?.problems ?? []));
  }
  return report;
}

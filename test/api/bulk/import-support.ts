import { importBatch } from '../../../api/bulk/import/import-batch.js';
import { prepareImport } from '../../../api/bulk/import/prepare-import.js';
import { undoBatch } from '../../../api/bulk/undo/undo-batch.js';
import type { TestTeam } from '../../factories/people.js';
import type { Client, TestApp } from '../../support/app.js';

const never = (): AbortSignal => new AbortController().signal;

/** The job as the API shows it. */
export const readJob = async (client: Client, jobId: string) => (await client.get(`/api/bulk/jobs/${jobId}`)).body;

/** Does what the workflow of an import does, in this process, until the job has ended. */
export async function finishImport(app: TestApp, jobId: string): Promise<void> {
  if (await prepareImport(app.services, jobId, never())) return;
  while (!(await importBatch(app.services, jobId, never())));
}

export async function finishUndo(app: TestApp, jobId: string): Promise<void> {
  while (!(await undoBatch(app.services, jobId, never())));
}

export const ndjson = (records: object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** Imports a text and returns the job at its end. */
export async function importText(
  app: TestApp,
  client: Client,
  team: Pick<TestTeam, 'team_id'>,
  data: string,
  fields: Record<string, unknown> = {},
) {
  const asked = await client.post('/api/bulk/import', { team_id: team.team_id, format: 'ndjson', data, ...fields });
  if (asked.status !== 202) throw new Error(`${asked.status} ${JSON.stringify(asked.body)}`);
  await finishImport(app, asked.body.job_id);
  return readJob(client, asked.body.job_id);
}

/** Counts of a job, for comparisons. */
export const toCounts = ({ status, created, updated, skipped, failed, processed, total }: Record<string, unknown>) => ({
  status,
  created,
  updated,
  skipped,
  failed,
  processed,
  total,
});

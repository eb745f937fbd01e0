import { request } from 'undici';
import { openExportDatabase } from '../../../activities/bulk.js';
import { runExport } from '../../../api/bulk/export/run-export.js';
import type { RequestExport } from '../../../api/bulk/schema.js';
import type { Person } from '../../factories/people.js';
import type { TestApp } from '../../support/app.js';

/** Requests an export as this person; returns the job's id. */
export async function requestExport(app: TestApp, person: Person, wanted: Partial<RequestExport>): Promise<string> {
  const { status, body } = await app.as(person).post('/api/bulk/export', { format: 'ndjson', ...wanted });
  if (status !== 202) throw new Error(JSON.stringify(body));
  return body.job_id as string;
}

/** The activity of an export, without Temporal. `use` ends with the pool closed. */
export function exporterOf(app: TestApp) {
  const exportDb = openExportDatabase(app.database.url);
  return {
    write: (jobId: string, signal = new AbortController().signal) =>
      runExport(app.services, jobId, { exportDb, heartbeat: () => undefined, signal }),
    close: () => exportDb.destroy(),
  };
}

/** The bytes of a download, with its status and headers. */
export async function download(app: TestApp, person: { token: string }, jobId: string) {
  const response = await request(`${app.url}/api/bulk/jobs/${jobId}/download`, {
    headers: { authorization: `Bearer ${person.token}` },
  });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, bytes };
}

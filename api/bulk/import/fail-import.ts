import type { Services } from '../../platform/context.js';
import { endImport, readImport } from './import-batch.js';

/** Ends an import whose batches failed every time. What it has written stays, and can be undone. May be repeated. */
export async function failImport(services: Services, jobId: string): Promise<void> {
  const job = await readImport(services, jobId);
  if (job) await endImport(services, job, 'interrupted');
}

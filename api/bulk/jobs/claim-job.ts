import type { BulkJob } from '../../../db/models/bulk-job.js';
import { run } from '../../../db/statement.js';
import { type Context, type Services, serviceContext } from '../../platform/context.js';
import type { InstanceRole } from '../../platform/access/actor.js';
import { claimJobStatement } from './progress.sql.js';

/** A job that an attempt works on. */
export interface ClaimedJob
  extends Pick<BulkJob, 'job_id' | 'team_id' | 'kind' | 'format' | 'options' | 'attempt' | 'correlation_id' | 'requested_by'> {
  email: string;
  role: InstanceRole;
  /** Object that the attempt before may have left. */
  left_key: string | null;
}

/** Claims a job for a new attempt; undefined if it has ended or waits for its slot. May be repeated: the newest attempt counts. */
export async function claimBulkJob(
  { db }: Pick<Services, 'db'>,
  jobId: string,
  pendingKey: string | null,
): Promise<ClaimedJob | undefined> {
  const [job] = await run<ClaimedJob & Record<string, unknown>>(db, claimJobStatement, [jobId, pendingKey]);
  return job;
}

/** Context in which an attempt works: on behalf of the requester, with their permissions of each moment. */
export function contextOfJob(
  services: Services,
  job: Pick<ClaimedJob, 'correlation_id' | 'requested_by' | 'email' | 'role'>,
): Context {
  const { requested_by: userId, email, role, correlation_id } = job;
  return { ...serviceContext(services, 'bulk', correlation_id), actor: { type: 'job', userId, email, role } };
}

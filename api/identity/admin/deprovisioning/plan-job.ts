import { DeprovisionStepRow } from '../../../../db/models/identity/deprovision-job.js';
import { Membership } from '../../../../db/models/membership.js';
import { defineStatement, run } from '../../../../db/statement.js';
import type { DeprovisionPlan, DeprovisionStep } from '../../../../workflows/contracts/deprovision-contract.js';
import { withRetries, type Services } from '../../../platform/context.js';
import { lockJob } from './lock-job.js';

/** $1 = job id, $2 = status. */
const updateStatement = defineStatement({
  name: 'update_deprovision_job',
  text: /* sql */ `
    update deprovision_jobs set status = $2, started_at = coalesce(started_at, now()),
      finished_at = case when $2 = 'succeeded' then now() else finished_at end
    where job_id = $1`,
});

/**
 * Marks the job as running and returns its remaining steps; without any, the job has succeeded. Returns null for a finished or
 * unknown job. Safe to repeat.
 */
export function planJob(services: Services, jobId: string): Promise<DeprovisionPlan | null> {
  return withRetries(services, () =>
    services.db.transaction(async (db) => {
      const job = await lockJob(db, jobId);
      if (!job) return null;
      const rows = await DeprovisionStepRow.query(db)
        .where({ job_id: jobId })
        .orderBy('done_at')
        .select('step', 'team_id', 'result');
      const done = rows.map(({ step, team_id, result }) => ({ step, teamId: team_id, result }));
      const seats = await Membership.query(db).where({ user_id: job.user_id }).orderBy('team_id').select('team_id');
      const teams = seats.map(({ team_id }) => team_id);
      const left = done.filter(({ step }) => step === 'leaveTeam').map(({ teamId }) => teamId);
      const all: DeprovisionStep[] = [
        ...(['revokeTokens', 'endSessions', 'deactivateAutomations'] as const).map((step) => ({ step, teamId: null })),
        ...teams.map((teamId) => ({ step: 'leaveTeam' as const, teamId })),
        ...[...new Set([...left, ...teams])].map((teamId) => ({ step: 'askOthers' as const, teamId })),
      ];
      const steps = all.filter(({ step, teamId }) => !done.some((one) => one.step === step && one.teamId === teamId));
      await run(db, updateStatement, [jobId, steps.length > 0 ? 'running' : 'succeeded']);
      return { userId: job.user_id, done, steps };
    }),
  );
}

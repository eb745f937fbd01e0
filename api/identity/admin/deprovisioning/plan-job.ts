import type { DeprovisionPlan, DeprovisionStep } from '../../../../workflows/contract.js';
import { withRetries, type Services } from '../../../platform/context.js';
import { lockJob } from './lock-job.js';

/**
 * Marks the job as running and returns its remaining steps; without any, the job has succeeded. Returns null for a finished or
 * unknown job. Safe to repeat.
 */
export function planJob(services: Services, jobId: string): Promise<DeprovisionPlan | null> {
  return withRetries(services, () =>
    services.db.transaction(async (db) => {
      const job = await lockJob(db, jobId);
      if (!job) return null;
      const done = await db('deprovision_steps')
        .where({ job_id: jobId })
        .orderBy('done_at')
        .select<DeprovisionPlan['done']>('step', 'team_id as teamId', 'result');
      const teams = await db('memberships').where({ user_id: job.user_id }).orderBy('team_id').pluck<string[]>('team_id');
      const left = done.filter(({ step }) => step === 'leaveTeam').map(({ teamId }) => teamId);
      const all: DeprovisionStep[] = [
        ...(['revokeTokens', 'endSessions', 'deactivateAutomations'] as const).map((step) => ({ step, teamId: null })),
        ...teams.map((teamId) => ({ step: 'leaveTeam' as const, teamId })),
        ...[...new Set([...left, ...teams])].map((teamId) => ({ step: 'askOthers' as const, teamId })),
      ];
      const steps = all.filter(({ step, teamId }) => !done.some((one) => one.step === step && one.teamId === teamId));
      const state = steps.length > 0 ? { status: 'running' } : { status: 'succeeded', finished_at: db.fn.now() };
      await db('deprovision_jobs')
        .where({ job_id: jobId })
        .update({ ...state, started_at: db.raw('coalesce(started_at, now())') });
      return { userId: job.user_id, done, steps };
    }),
  );
}

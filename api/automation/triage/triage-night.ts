import { run } from '../../../db/statement.js';
import type { TriageResult } from '../../../workflows/contracts/triage-contract.js';
import { isAllowed } from '../../platform/access/access.js';
import type { InstanceRole } from '../../platform/access/actor.js';
import { type Context, inTransaction, type Services, serviceContext } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { findSeat } from '../../platform/access/seats.js';
import { dayIn } from './nightly.js';
import { lockNightStatement, selectTasksStatement } from './overnight.sql.js';
import { proposalFor, type SelectedTask } from './rules.js';
import { stageTriage } from './stage-triage.js';

interface Night extends Record<string, unknown> {
  overnight_enabled: boolean;
  overnight_timezone: string;
  user_id: string | null;
  email: string;
  role: InstanceRole;
  is_active: boolean;
}

const DATE = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', dateStyle: 'medium' });

/** Returns the context of the user who enabled the triage; null if that user may no longer write in the team. */
async function enablerContext(ctx: Context, teamId: string, night: Night): Promise<Context | null> {
  const { user_id: userId, email, role, is_active } = night;
  if (userId === null || !is_active) return null;
  const enabler: Context = { ...ctx, actor: { type: 'job', userId, email, role } };
  return isAllowed('task.write', await findSeat(enabler, teamId)) ? enabler : null;
}

async function stageNight(ctx: Context, teamId: string, nominal: Date): Promise<TriageResult> {
  const [night] = await run<Night>(ctx.db, lockNightStatement, [teamId]);
  if (!night?.overnight_enabled) return { outcome: 'off' };
  const enabler = await enablerContext(ctx, teamId, night);
  if (!enabler) return { outcome: 'blocked' };
  const date = dayIn(night.overnight_timezone, nominal);
  const tasks = await run<SelectedTask & Record<string, unknown>>(ctx.db, selectTasksStatement, [teamId, date]);
  if (tasks.length === 0) return { outcome: 'nothing' };
  return stageTriage(enabler, {
    kind: 'overnight_triage',
    source: 'overnight_triage',
    team_id: teamId,
    subject_key: `triage:${teamId}:${date}`,
    title: `Overnight triage, ${DATE.format(new Date(date))}`,
    actions: tasks.map(proposalFor),
    trigger: { type: 'schedule', date, timezone: night.overnight_timezone },
  });
}

/**
 * Stages the plan of one night for a team, once a night, in one transaction: what it replaces stays if anything fails. `nominalTime` is the
 * time for which the night was scheduled; its day in the team's zone names the night. Uses no model
 * (docs/decisions/agent.md#rules-instead-of-a-model).
 * @throws retryable errors; a refusal is an outcome
 */
export async function triageNight(services: Services, teamId: string, nominalTime: string): Promise<TriageResult> {
  try {
    const nominal = new Date(nominalTime);
    return await inTransaction(serviceContext(services, 'triage'), (ctx) => stageNight(ctx, teamId, nominal));
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
    services.log.warn({ err: error, team_id: teamId }, 'the overnight triage was refused');
    return { outcome: 'refused', code: error.code };
  }
}

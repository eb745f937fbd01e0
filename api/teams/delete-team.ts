import { raw } from 'objection';
import { Membership } from '../../db/models/membership.js';
import { Project } from '../../db/models/project.js';
import { closePlansOfTeam } from '../agent/plans/decisions/close-plans.js';
import { endSessionsOfTeam } from '../agent/sessions/end-sessions.js';
import { endAutomationsOf } from '../automations/delete-automation-row.js';
import { authorize } from '../core/access.js';
import { type Context, inTransaction } from '../core/context.js';
import { conflict } from '../core/errors.js';
import { recordChange } from '../core/record-change.js';
import { deleteCyclesOfTeam } from '../cycles/delete-cycle.js';
import { seatOf } from '../core/seats.js';
import { deleteFieldsOfTeam } from '../custom-fields/delete-field.js';
import { trashItemsOfTeam } from '../items/trash-items-of-team.js';
import { deleteRunnersOfTeam } from '../runners/registration/delete-runner.js';
import { deleteViewsOfTeam } from '../saved-views/delete-view.js';
import { endJobsOfTeam } from '../bulk/jobs/end-jobs-of-team.js';
import { deleteWebhooksOfTeam } from '../webhooks/delete-webhook.js';
import { lockTeam } from './lock-team.js';

/**
 * Permanently deletes a team without live projects: its memberships, automations, runs waiting for approval, repository bindings,
 * secrets, webhooks, runners with their jobs, custom fields with their values, saved views, cycles and sessions with the agent. Its notes, files, whiteboards and docs go to the trash. Its trash becomes unreachable and is purged at the end of its retention.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT live projects
 */
export function deleteTeam(ctx: Context, teamId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    // The lock prevents new memberships.
    const team = await lockTeam(ctx, teamId);
    authorize('team.write', await seatOf(ctx, teamId));
    // Writers lock a cycle or a field before a membership.
    const cycles = await deleteCyclesOfTeam(ctx, teamId);
    const custom_fields = await deleteFieldsOfTeam(ctx, teamId);
    const members = await Membership.query(ctx.db).where({ team_id: teamId }).delete();
    // Creating or restoring a project requires a membership until the commit; without memberships, this result stays true.
    const project = await Project.query(ctx.db).where({ team_id: teamId }).modify('live').first();
    if (project) throw conflict('The team has active projects; move them to the trash first');
    await closePlansOfTeam(ctx, teamId);
    const items = await trashItemsOfTeam(ctx, teamId);
    const automations = await endAutomationsOf(ctx, { team_id: teamId });
    const agent_sessions = await endSessionsOfTeam(ctx, teamId);
    const repositories = await ctx.db('forge_repositories').where({ team_id: teamId }).delete();
    const secrets = await ctx.db('team_secrets').where({ team_id: teamId }).delete();
    const saved_views = await deleteViewsOfTeam(ctx, teamId);
    const { runners, jobs: runner_jobs } = await deleteRunnersOfTeam(ctx, teamId);
    const webhooks = await deleteWebhooksOfTeam(ctx, teamId);
    const bulk_jobs = await endJobsOfTeam(ctx, teamId);
    await team.$query(ctx.db).patch({ deleted_at: raw('now()') });
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'teams',
      action: 'delete',
      severity: 'HIGH',
      entity_type: 'team',
      entity_id: teamId,
      title: team.name,
      summary: 'deleted the team',
      details: {
        name: team.name,
        members,
        items,
        automations,
        repositories,
        secrets,
        agent_sessions,
        webhooks,
        cycles,
        custom_fields,
        runners,
        runner_jobs,
        saved_views,
        bulk_jobs,
      },
    });
  });
}

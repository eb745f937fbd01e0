import { fn } from 'objection';
import { Membership } from '../../../db/models/membership.js';
import { Project } from '../../../db/models/project.js';
import { authorize } from '../../platform/access/access.js';
import { findSeat } from '../../platform/access/seats.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { conflict } from '../../platform/errors.js';
import { lockTeam } from './lock-team.js';
import { runTeamData } from './team-data.js';

/**
 * Permanently deletes a team without live projects: its memberships, automations, runs waiting for approval, repository bindings,
 * secrets, webhooks, runners with their jobs, custom fields with their values, saved views, cycles and sessions with the agent. Its notes, files,
 * whiteboards and docs go to the trash. Its trash becomes unreachable and is purged at the end of its retention.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT live projects
 */
export function deleteTeam(ctx: Context, teamId: string): Promise<void> {
  return inTransaction(ctx, async (ctx) => {
    // The lock prevents new memberships.
    const team = await lockTeam(ctx, teamId);
    authorize('team.write', await findSeat(ctx, teamId));
    const before = await runTeamData(ctx, 'beforeMembershipsEnd', teamId);
    const members = await Membership.query(ctx.db).where({ team_id: teamId }).delete();
    // Creating or restoring a project requires a membership until the commit; without memberships, this result stays true.
    const project = await Project.query(ctx.db).where({ team_id: teamId }).modify('live').first();
    if (project) throw conflict('The team has active projects; move them to the trash first');
    const after = await runTeamData(ctx, 'onTeamDeleted', teamId);
    await team.$query(ctx.db).patch({ deleted_at: fn.now() });
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'teams',
      action: 'delete',
      severity: 'HIGH',
      entity_type: 'team',
      entity_id: teamId,
      title: team.name,
      summary: 'deleted the team',
      details: { name: team.name, members, ...before, ...after },
    });
  });
}

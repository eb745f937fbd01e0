import { authorize, requireSession } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { lockTeam } from './lock-team.js';
import { readTeam } from './read-team.js';
import type { TeamRecord, UpdateTeam } from './schema.js';

/**
 * Updates name, description and who may decide; writes nothing if nothing changes.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin, or a token that would let tokens decide again
 */
export function updateTeam(ctx: Context, teamId: string, input: UpdateTeam): Promise<TeamRecord> {
  return inTransaction(ctx, async (ctx) => {
    const before = await lockTeam(ctx, teamId);
    authorize('team.write', await findSeat(ctx, teamId));
    const { name = before.name, description = before.description, decisions_signed_in = before.decisions_signed_in } = input;
    // A token that could lift this could then decide.
    const lifts = before.decisions_signed_in && !decisions_signed_in;
    if (lifts) requireSession(ctx.actor);
    const changes = {
      ...(name === before.name ? {} : { name: { from: before.name, to: name } }),
      ...(description === before.description ? {} : { description: { from: before.description, to: description } }),
      ...(decisions_signed_in === before.decisions_signed_in
        ? {}
        : { decisions_signed_in: { from: before.decisions_signed_in, to: decisions_signed_in } }),
    };
    if (Object.keys(changes).length > 0) {
      await before.$query(ctx.db).patch({ name, description, decisions_signed_in });
      await recordChange(ctx, {
        team_id: teamId,
        feature: 'teams',
        action: 'update',
        ...(lifts && { severity: 'HIGH' as const }),
        entity_type: 'team',
        entity_id: teamId,
        title: name,
        summary: `changed ${Object.keys(changes).join(', ')}`,
        details: { changes },
      });
    }
    return (await readTeam(ctx, teamId)).team;
  });
}

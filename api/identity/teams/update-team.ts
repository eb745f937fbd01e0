import { authorize, requireSession } from '../../platform/access/access.js';
import { type Context, inTransaction } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { findSeat } from '../../platform/access/seats.js';
import { lockTeam } from './lock-team.js';
import { readTeam } from './read-team.js';
import type { TeamRecord, UpdateTeam } from './schema.js';

const SETTINGS = ['name', 'key', 'description', 'decisions_signed_in'] as const satisfies (keyof UpdateTeam)[];

/**
 * Updates name, key, description and who may decide; writes nothing if nothing changes.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin, or a token that would let tokens decide again
 */
export function updateTeam(ctx: Context, teamId: string, input: UpdateTeam): Promise<TeamRecord> {
  return inTransaction(ctx, async (ctx) => {
    const before = await lockTeam(ctx, teamId);
    authorize('team.write', await findSeat(ctx, teamId));
    // A token that could lift this could then decide.
    const lifts = before.decisions_signed_in && input.decisions_signed_in === false;
    if (lifts) requireSession(ctx.actor);
    const changed = SETTINGS.filter((name) => input[name] !== undefined && input[name] !== before[name]);
    if (changed.length > 0) {
      const name = input.name ?? before.name;
      const changes = Object.fromEntries(changed.map((each) => [each, { from: before[each], to: input[each] }]));
      await before.$query(ctx.db).patch(Object.fromEntries(changed.map((each) => [each, input[each]])));
      await recordChange(ctx, {
        team_id: teamId,
        feature: 'teams',
        action: 'update',
        ...(lifts && { severity: 'HIGH' as const }),
        entity_type: 'team',
        entity_id: teamId,
        title: name,
        summary: `changed ${changed.join(', ')}`,
        details: { changes },
      });
    }
    return (await readTeam(ctx, teamId)).team;
  });
}

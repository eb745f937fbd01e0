import { randomBytes } from 'node:crypto';
import { RunnerRegistrationToken } from '../../../../db/models/runner.js';
import { Team } from '../../../../db/models/team.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, notFound } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { seatInTeam, findSeat } from '../../../platform/access/seats.js';
import type { RegistrationToken } from '../schema.js';
import { hashOfToken, REGISTRATION_PREFIX } from './tokens.js';

const LIFE_MS = 3_600_000;
/** Unused tokens of a team at the same time. */
const MAX_PENDING = 100;

/**
 * Creates a token that registers one runner within an hour. The token is only in this response; its SHA-256 is stored.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin | RESOURCE_CONFLICT too many unused tokens
 */
export async function createRegistrationToken(ctx: Context, teamId: string): Promise<RegistrationToken> {
  authorize('runner.manage', await seatInTeam(ctx, teamId));
  const token = `${REGISTRATION_PREFIX}${randomBytes(32).toString('base64url')}`;
  const expires_at = new Date(Date.now() + LIFE_MS);
  return inTransaction(ctx, async (ctx) => {
    // A deletion of the team waits for this lock.
    const team = await Team.query(ctx.db).findById(teamId).modify('live').forNoKeyUpdate();
    if (!team) throw notFound('Team');
    authorize('runner.manage', await findSeat(ctx, teamId));
    await RunnerRegistrationToken.query(ctx.db).where({ team_id: teamId }).where('expires_at', '<', new Date()).delete();
    if ((await RunnerRegistrationToken.query(ctx.db).where({ team_id: teamId }).resultSize()) >= MAX_PENDING) {
      throw conflict(`At most ${MAX_PENDING} registration tokens of a team can be unused; use them, or wait an hour`);
    }
    await RunnerRegistrationToken.query(ctx.db).insert({
      token_hash: hashOfToken(token),
      team_id: teamId,
      created_by: requireUser(ctx),
      expires_at,
    });
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'runners',
      action: 'create',
      severity: 'HIGH',
      entity_type: 'token',
      entity_id: null,
      details: { kind: 'runner_registration', expires_at: expires_at.toISOString() },
    });
    return { token, expires_at: expires_at.toISOString() };
  });
}

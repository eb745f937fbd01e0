import { randomBytes } from 'node:crypto';
import { Runner, RunnerRegistrationToken } from '../../../../db/models/runner.js';
import { Team } from '../../../../db/models/team.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict, unauthenticated } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import type { RegisteredRunner, RegisterRunner } from '../schema.js';
import { hashOfToken, RUNNER_PREFIX } from './tokens.js';

/** $1 = team id, $2 = user id. The role of an active user; locked until the commit. */
const creatorStatement = defineStatement({
  name: 'registration_token_creator',
  text: /* sql */ `
    select m.role from memberships m join users u using (user_id)
    where m.team_id = $1 and m.user_id = $2 and u.status = 'active' for share of m`,
});

/** Returns the team of a token that is valid now, and the user who created it. @throws AUTHENTICATION_REQUIRED */
async function useToken(ctx: Context, token: string): Promise<RunnerRegistrationToken> {
  const token_hash = hashOfToken(token);
  const found = await RunnerRegistrationToken.query(ctx.db).findById(token_hash);
  // The team first, as everywhere: its deletion waits, or has deleted the token.
  const team = found && (await Team.query(ctx.db).findById(found.team_id).modify('live').forNoKeyUpdate());
  if (!found || !team || found.expires_at < new Date()) throw unauthenticated();
  const [creator] = await run<{ role: Seat }>(ctx.db, creatorStatement, [found.team_id, found.created_by]);
  if (!isAllowed('runner.manage', creator?.role ?? null)) throw unauthenticated();
  // Of two registrations with the same token one deletes it.
  if ((await RunnerRegistrationToken.query(ctx.db).deleteById(token_hash)) === 0) throw unauthenticated();
  return found;
}

/**
 * Registers a runner for the team of a registration token, which is then used up. The runner's own token is only in this response.
 * @throws AUTHENTICATION_REQUIRED an unknown, used or expired token, or its creator is suspended or no admin of the team any more |
 * RESOURCE_CONFLICT the team has too many runners
 */
export function registerRunner(ctx: Context, { token, name, labels, version }: RegisterRunner): Promise<RegisteredRunner> {
  const runner_token = `${RUNNER_PREFIX}${randomBytes(32).toString('base64url')}`;
  return inTransaction(ctx, async (ctx) => {
    const { team_id, created_by } = await useToken(ctx, token);
    const most = ctx.config.RUNNERS_PER_TEAM;
    if ((await Runner.query(ctx.db).where({ team_id }).resultSize()) >= most) {
      throw conflict(`A team has at most ${most} runners; delete one first`);
    }
    const runner_id = newId();
    await Runner.query(ctx.db).insert({
      runner_id,
      team_id,
      name,
      labels,
      version,
      token_hash: hashOfToken(runner_token),
      created_by,
    });
    await recordChange(
      { ...ctx, actor: { type: 'system', name: 'runners', causeUserIds: [created_by] } },
      {
        team_id,
        feature: 'runners',
        action: 'create',
        severity: 'HIGH',
        entity_type: 'runner',
        entity_id: runner_id,
        title: name,
        summary: 'registered the runner',
        details: { name, labels, version, invited_by: created_by },
      },
    );
    return { runner_id, runner_token, team_id, name, labels };
  });
}

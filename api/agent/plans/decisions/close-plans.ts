import { run, type Statement } from '../../../../db/statement.js';
import { callerJson, type Context } from '../../../platform/context.js';
import { countPlans } from '../../../platform/telemetry/metrics.js';
import {
  closeOfOwnerInTeamStatement,
  closeOfSessionStatement,
  closeOfTeamStatement,
  closeOfTokensStatement,
  closePlansStatement,
} from './close-plans.sql.js';

async function close(
  ctx: Context,
  statement: Statement,
  values: unknown[],
  reason: 'superseded' | 'source_gone' = 'source_gone',
  supersededBy: string | null = null,
): Promise<number> {
  const [row] = await run<{ sources: string[] }>(ctx.db, statement, [
    JSON.stringify(callerJson(ctx)),
    reason,
    supersededBy,
    ...values,
  ]);
  const sources = row?.sources ?? [];
  for (const source of sources) countPlans(source, reason);
  return sources.length;
}

/** Discards the staged plans of a session, in the transaction that deletes it. Returns their number, as all of these do. */
export const closePlansOfSession = (ctx: Context, sessionId: string) => close(ctx, closeOfSessionStatement, [sessionId]);

/** Discards what tokens have proposed, in the transaction that revokes them. */
export const closePlansOfTokens = (ctx: Context, tokenIds: readonly string[]) => close(ctx, closeOfTokensStatement, [tokenIds]);

/** Discards the plans of a team, and all that would change something in it, in the transaction that deletes it. */
export const closePlansOfTeam = (ctx: Context, teamId: string) => close(ctx, closeOfTeamStatement, [teamId]);

/** Discards the own plans of a user that would change something in a team which the user leaves. */
export const closePlansInTeam = (ctx: Context, userId: string, teamId: string) =>
  close(ctx, closeOfOwnerInTeamStatement, [userId, teamId]);

/** Discards plans that a newer one replaces. `by`: the newer plan; null if there was nothing left to propose. */
export const supersedePlans = (ctx: Context, actionIds: readonly string[], by: string | null) =>
  close(ctx, closePlansStatement, [actionIds], 'superseded', by);

import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { conflict } from '../../../platform/errors.js';
import { isBelowDefault } from '../../requirement/request-rules.js';
import { checkVisible } from '../create/compose-request.js';
import { readRules } from './read-rules.js';
import { deleteRulesStatement, insertRulesStatement, lockRulesStatement } from './rules.sql.js';
import type { RequestRules, SaveRequestRules } from './schema.js';

/**
 * Replaces the rules of a team. Open requests keep what was required when they were made. `expected`: the version that the caller has read, or null.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED below admin | RESOURCE_CONFLICT they were replaced since | INVALID_REQUEST invisible characters
 */
export function saveRules(
  ctx: Context,
  teamId: string,
  { rules }: SaveRequestRules,
  expected: number | null,
): Promise<RequestRules> {
  for (const { system, name, target } of rules) checkVisible({ system, name, target });
  return inTransaction(ctx, async (ctx) => {
    authorize('request_rule.write', await seatInTeam(ctx, teamId));
    const [locked] = await run<{ version: number }>(ctx.db, lockRulesStatement, [teamId]);
    if (expected !== null && locked?.version !== expected)
      throw conflict('The rules were replaced since you read them', { extra: { current_version: locked?.version ?? 0 } });
    await run(ctx.db, deleteRulesStatement, [teamId]);
    await run(ctx.db, insertRulesStatement, [teamId, JSON.stringify(rules)]);
    const saved = await readRules(ctx, teamId);
    const below = saved.rules.filter(isBelowDefault).map(({ rule_id }) => rule_id);
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'requests',
      action: 'update',
      // Such a rule asks for less than one manager who is not behind the request.
      severity: below.length > 0 ? 'HIGH' : 'MEDIUM',
      entity_type: 'request_rules',
      entity_id: teamId,
      details: { rules: saved.rules.length, below_default: below, version: saved.version },
    });
    return saved;
  });
}

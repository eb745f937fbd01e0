import { run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import { seatInTeam } from '../../../platform/access/seats.js';
import type { Context } from '../../../platform/context.js';
import { notFound } from '../../../platform/errors.js';
import { decideTerms, findRule } from '../../requirement/request-rules.js';
import { readOperations, toRequirement } from '../create/compose-request.js';
import type { AskedOperation } from '../schema.js';
import { readRulesStatement } from './rules.sql.js';
import type { RequestRules, TestedRequestRules } from './schema.js';

/** Returns the rules of a team, whose existence and the caller's role are checked. */
export async function readRules(ctx: Context, teamId: string): Promise<RequestRules> {
  const [row] = await run<RequestRules & Record<string, unknown>>(ctx.db, readRulesStatement, [teamId]);
  if (!row) throw notFound('Team');
  return { rules: row.rules, version: row.version };
}

/** @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member */
export async function getRules(ctx: Context, teamId: string): Promise<RequestRules> {
  authorize('request_rule.read', await seatInTeam(ctx, teamId));
  return readRules(ctx, teamId);
}

/**
 * Says which rule holds for an operation, and who would have to approve it.
 * @throws RESOURCE_NOT_FOUND | PERMISSION_DENIED a guest, or no member | INVALID_REQUEST the operation
 */
export async function testRules(ctx: Context, teamId: string, asked: AskedOperation): Promise<TestedRequestRules> {
  const { rules } = await getRules(ctx, teamId);
  const operations = readOperations([asked]);
  const [operation] = operations;
  return {
    rule: (operation && findRule(rules, operation)) as TestedRequestRules['rule'],
    requirement: toRequirement(decideTerms(rules, operations)),
  };
}

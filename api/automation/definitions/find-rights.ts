import { isAdmitted, isAllowed } from '../../platform/access/access.js';
import { findSeat } from '../../platform/access/seats.js';
import { type Context, requireUser } from '../../platform/context.js';
import { findForbiddenAction } from '../secrets/assert-actions-allowed.js';
import { canManage } from './policy.js';
import type { AutomationRecord } from './schema.js';

/** What the caller may do with an automation. */
export interface AutomationRights {
  /** Save, disable, roll back and delete. */
  mayChange: boolean;
  /** Enable: a change, and every action in it is one that the caller may save. */
  mayEnable: boolean;
  /** Start, also as a dry run. */
  mayRun: boolean;
  mayTakeOver: boolean;
}

const NONE: AutomationRights = { mayChange: false, mayEnable: false, mayRun: false, mayTakeOver: false };

/**
 * Returns what the caller may do with an automation that they may read, by the same rules as the operations, so that pages offer only
 * what works.
 */
export async function findRights(ctx: Context, automation: AutomationRecord): Promise<AutomationRights> {
  const { team_id, created_by, is_protected, actions } = automation;
  const userId = requireUser(ctx);
  const seat = team_id === null ? null : await findSeat(ctx, team_id);
  const manages = (ability: 'automation.write' | 'automation.dispatch'): boolean =>
    isAdmitted(ability, ctx.actor) && canManage(ability, automation, { userId, seat });
  const passesProtection = !is_protected || isAllowed('automation.protect', seat);
  const mayChange = passesProtection && manages('automation.write');
  const mayLead = passesProtection && isAllowed('automation.take_over', seat) && isAdmitted('automation.take_over', ctx.actor);
  const wantsRun = manages('automation.dispatch');
  if (!mayChange && !wantsRun && !mayLead) return NONE;
  const isFree = (await findForbiddenAction(ctx, team_id, actions)) === undefined;
  return {
    mayChange,
    mayEnable: mayChange && isFree,
    mayRun: wantsRun && isFree,
    mayTakeOver: mayLead && isFree && created_by !== userId,
  };
}

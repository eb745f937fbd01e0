import { raw } from 'objection';
import type { Automation } from '../../../db/models/automation.js';
import { callerJson, type Context } from '../../core/context.js';

type Armable = Pick<
  Automation,
  'is_active' | 'trigger_type' | 'schedule_cron' | 'schedule_timezone' | 'project_id' | 'created_by'
>;

/** Fields of an enabled automation whose change decides when it runs, or as whom. */
const ARMING = ['trigger_type', 'schedule_cron', 'schedule_timezone', 'project_id', 'created_by'] as const;

/** Returns `enabled_by` of an automation that the caller enables: the caller and the users behind them. */
export const enabledByCaller = (ctx: Context): string[] =>
  raw('people_of_caller(?::jsonb)', [JSON.stringify(callerJson(ctx))]) as never;

const alsoByCaller = (ctx: Context): string[] =>
  raw('add_people(enabled_by, people_of_caller(?::jsonb))', [JSON.stringify(callerJson(ctx))]) as never;

/**
 * Returns `enabled_by` for a change of an automation: whoever enables it replaces who did before, and whoever changes when it runs, or takes it
 * over, joins them. Nobody else starts a schedule, so at a gate without self-approval its runs are theirs.
 */
export function enablersAfter(ctx: Context, before: Armable, fields: Partial<Armable>): Partial<Automation> {
  if (!(fields.is_active ?? before.is_active)) return {};
  if (!before.is_active) return { enabled_by: enabledByCaller(ctx) };
  const isArmed = ARMING.some((field) => fields[field] !== undefined && fields[field] !== before[field]);
  return isArmed ? { enabled_by: alsoByCaller(ctx) } : {};
}

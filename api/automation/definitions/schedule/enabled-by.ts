import type { Automation } from '../../../../db/models/automation/automation.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { callerJson, type Context } from '../../../platform/context.js';

type ScheduleState = Pick<
  Automation,
  'is_active' | 'trigger_type' | 'schedule_cron' | 'schedule_timezone' | 'project_id' | 'created_by'
>;

/** Fields of an enabled automation whose change decides when it runs, or as whom. */
const SCHEDULE_FIELDS = ['trigger_type', 'schedule_cron', 'schedule_timezone', 'project_id', 'created_by'] as const;

/** $1 = caller (jsonb). */
const callerStatement = defineStatement({
  name: 'people_of_caller',
  text: 'select people_of_caller($1::jsonb) as people',
});

/** Returns `enabled_by` of an automation that the caller enables: the caller and the users behind them. */
export async function enabledByCaller(ctx: Context): Promise<string[]> {
  const [row] = await run<{ people: string[] }>(ctx.db, callerStatement, [JSON.stringify(callerJson(ctx))]);
  return row?.people ?? [];
}

/**
 * Returns `enabled_by` for a change of an automation, whose row is locked. A caller who enables it replaces those before; a caller who changes when
 * it runs, or takes it over, joins them. Nobody else starts a schedule, so at a gate without self-approval its runs are theirs.
 */
export async function enablersAfter(
  ctx: Context,
  before: ScheduleState & Pick<Automation, 'enabled_by'>,
  fields: Partial<ScheduleState>,
): Promise<Partial<Automation>> {
  if (!(fields.is_active ?? before.is_active)) return {};
  if (!before.is_active) return { enabled_by: await enabledByCaller(ctx) };
  const changesSchedule = SCHEDULE_FIELDS.some((field) => fields[field] !== undefined && fields[field] !== before[field]);
  return changesSchedule ? { enabled_by: [...new Set([...before.enabled_by, ...(await enabledByCaller(ctx))])] } : {};
}

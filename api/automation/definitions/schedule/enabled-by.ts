import type { Automation } from '../../../../db/models/automation/automation.js';
import { peopleOfCaller } from '../../../platform/access/people-of-caller.js';
import type { Context } from '../../../platform/context.js';

type ScheduleState = Pick<
  Automation,
  'is_active' | 'trigger_type' | 'schedule_cron' | 'schedule_timezone' | 'project_id' | 'created_by'
>;

/** Fields of an enabled automation whose change decides when it runs, or as whom. */
const SCHEDULE_FIELDS = ['trigger_type', 'schedule_cron', 'schedule_timezone', 'project_id', 'created_by'] as const;

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
  if (!before.is_active) return { enabled_by: await peopleOfCaller(ctx) };
  const changesSchedule = SCHEDULE_FIELDS.some((field) => fields[field] !== undefined && fields[field] !== before[field]);
  return changesSchedule ? { enabled_by: [...new Set([...before.enabled_by, ...(await peopleOfCaller(ctx))])] } : {};
}

import type { StoredAction } from '../../../db/models/automation/automation.js';
import { invalid } from '../../platform/errors.js';
import { didYouMean, nearest } from '../../platform/validation/suggestions.js';
import { zoneNamed } from '../../platform/time-zones.js';
import { checkActions, type GivenAction } from '../actions/check-actions.js';
import { checkCondition } from '../language/condition.js';
import { checkSchedule } from './schedule/check-schedule.js';
import { TRIGGERS } from '../language/triggers.js';

interface Definition {
  trigger_type: string;
  condition: string | null;
  actions: readonly GivenAction[];
  schedule_cron: string | null;
  schedule_timezone: string;
  team_id: string | null;
}

interface CheckedDefinition {
  schedule_cron: string | null;
  schedule_timezone: string;
  condition: string | null;
  actions: StoredAction[];
}

const AVAILABLE_TRIGGERS = TRIGGERS.filter(({ available }) => available).map(({ key }) => key);

function checkTrigger(type: string): void {
  const trigger = TRIGGERS.find(({ key }) => key === type);
  const shown = type.slice(0, 100);
  if (!trigger) throw invalid(`trigger_type: unknown trigger: ${shown}${didYouMean(nearest(type, AVAILABLE_TRIGGERS, 3))}`);
  if (!trigger.available) throw invalid(`trigger_type: not available yet: ${shown}`);
}

/** @throws INVALID_REQUEST */
function checkTimezone(name: string): string {
  const zone = zoneNamed(name);
  if (zone === undefined) throw invalid('schedule_timezone: not an IANA time zone');
  return zone;
}

/**
 * Validates a definition on save and returns its stored form.
 * @throws INVALID_REQUEST naming the field and the position in it
 */
export function checkDefinition(input: Definition): CheckedDefinition {
  const { trigger_type, condition, actions, team_id } = input;
  checkTrigger(trigger_type);
  const schedule_timezone = checkTimezone(input.schedule_timezone);
  const schedule_cron = checkSchedule(trigger_type, input.schedule_cron, schedule_timezone);
  const source = condition?.trim() ? condition : null;
  const verdict = source === null ? { ok: true as const } : checkCondition(source);
  if (!verdict.ok) {
    const at = verdict.position === null ? '' : ` (at character ${verdict.position})`;
    throw invalid(`condition: ${verdict.message}${at}`);
  }
  return { schedule_cron, schedule_timezone, condition: source, actions: checkActions(actions, team_id === null) };
}

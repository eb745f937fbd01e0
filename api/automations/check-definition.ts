import type { StoredAction } from '../../db/models/automation.js';
import { invalid } from '../core/errors.js';
import { checkActions, type GivenAction } from './actions/check-actions.js';
import { checkCondition } from './condition.js';
import { TRIGGERS } from './triggers.js';

interface Definition {
  trigger_type: string;
  condition: string | null;
  actions: readonly GivenAction[];
  schedule_timezone: string;
  team_id: string | null;
}

interface CheckedDefinition {
  condition: string | null;
  actions: StoredAction[];
}

function checkTrigger(type: string): void {
  const trigger = TRIGGERS.find(({ key }) => key === type);
  const shown = type.slice(0, 100);
  if (!trigger) throw invalid(`trigger_type: there is no such trigger: ${shown}`);
  if (!trigger.available) throw invalid(`trigger_type: not available yet: ${shown}`);
}

function checkTimezone(name: string): void {
  // Offsets such as +02:00 are accepted by Intl, yet name no zone.
  const known = /^[A-Za-z]/.test(name) && isZone(name);
  if (!known) throw invalid('schedule_timezone: not an IANA time zone');
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/**
 * Judges what an automation would do, when it is saved, and gives it the form in which it is stored.
 * @throws INVALID_REQUEST naming the field and the position in it
 * Source: decisions F1, F3 to F5, F12.
 */
export function checkDefinition({ trigger_type, condition, actions, schedule_timezone, team_id }: Definition): CheckedDefinition {
  checkTrigger(trigger_type);
  checkTimezone(schedule_timezone);
  const source = condition?.trim() ? condition : null;
  const verdict = source === null ? { ok: true as const } : checkCondition(source);
  if (!verdict.ok) {
    const at = verdict.position === null ? '' : ` (at character ${verdict.position})`;
    throw invalid(`condition: ${verdict.message}${at}`);
  }
  return { condition: source, actions: checkActions(actions, team_id === null) };
}

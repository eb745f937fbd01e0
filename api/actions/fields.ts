import { Text } from '../core/fields.js';
import { normaliseDate } from '../core/dates.js';

/** A date or a date-time. Judged here, because an action is refused when it is saved, not when its task is (F5). */
export const DateText = Text.refine((value) => normaliseDate(value) !== null, 'Takes an ISO 8601 date or date-time').meta({
  example: '2026-12-01',
});

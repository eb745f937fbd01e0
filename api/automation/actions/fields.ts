import { Text } from '../../platform/fields.js';
import { isDueDate } from './written-due.js';

/** A due date, also in words: they count from the day of the run. Validated here, so that a bad one is rejected when the automation is saved. */
export const DateText = Text.refine(
  isDueDate,
  'must be an ISO 8601 date or date-time, or words such as “in 3 days” or “next friday”',
).meta({
  example: 'in 3 days',
});

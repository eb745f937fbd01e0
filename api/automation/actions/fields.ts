import { Text } from '../../platform/fields.js';
import { normaliseDate } from '../../platform/dates.js';

/** A date or a date-time. Validated here, so that a bad one is rejected when the automation is saved. */
export const DateText = Text.refine((value) => normaliseDate(value) !== null, 'must be an ISO 8601 date or date-time').meta({
  example: '2026-12-01',
});

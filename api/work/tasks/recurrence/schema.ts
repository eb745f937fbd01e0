import { z } from 'zod';
import { normaliseDate } from '../../../platform/dates.js';
import { DATE_FORMATS, Text, TimeZone } from '../../../platform/fields.js';
import { MODES, normaliseRule, parseRule, type Recurrence as Stored } from './rules.js';

const given = z.object({
  rule: Text.max(500).meta({
    description: 'RFC 5545: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY; INTERVAL, BYDAY, BYMONTHDAY, COUNT, UNTIL',
    example: 'FREQ=WEEKLY;BYDAY=MO',
  }),
  mode: z.enum(MODES).meta({
    description: 'on_complete: the next task is created when this one is done; on_schedule: also at its date',
  }),
  timezone: TimeZone,
  until: Text.max(40)
    .meta({ override: { ...DATE_FORMATS, description: 'Last date (inclusive) or last time' } })
    .nullish(),
  count: z.int().min(1).max(999_999).nullish().meta({ description: 'Total number of occurrences' }),
});

/** Input of a recurrence, validated and normalized to its stored form; sending that form back changes nothing. */
export const Recurrence = given
  .transform((value, ctx): Stored => {
    const rule = normaliseRule(value.rule);
    const refuse = (field: string, message: string): never => {
      ctx.addIssue({ code: 'custom', path: [field], message, input: value });
      return z.NEVER;
    };
    const parsed = parseRule(rule);
    if (typeof parsed === 'string') return refuse('rule', parsed);
    const until = value.until == null ? null : normaliseDate(value.until);
    if (value.until != null && until === null) return refuse('until', 'must be an ISO 8601 date or date-time');
    const ruleUntil = parsed.until === null ? null : normaliseDate(parsed.until);
    if (parsed.until !== null && ruleUntil === null) return refuse('rule', 'has an UNTIL that is not a date');
    if (until !== null && ruleUntil !== null && until !== ruleUntil) return refuse('until', 'differs from the UNTIL of the rule');
    if (value.count != null && parsed.count !== null && value.count !== parsed.count)
      return refuse('count', 'differs from the COUNT of the rule');
    const end = { until: until ?? ruleUntil, count: value.count ?? parsed.count };
    if (end.until !== null && end.count !== null) return refuse('count', 'cannot be combined with until');
    return { rule, mode: value.mode, timezone: value.timezone, ...end };
  })
  .meta({
    id: 'NewRecurrence',
    description: 'Cannot be set while impersonating (403): the series would continue in the user’s name',
    not: { required: ['until', 'count'], properties: { until: { type: 'string' }, count: { type: 'integer' } } },
  });

/** A recurrence in a task's record. */
export const TaskRecurrence = z
  .object({
    rule: z.string(),
    mode: z.enum(MODES),
    timezone: z.string(),
    until: z.string().nullable(),
    count: z.int().nullable(),
  })
  .meta({
    id: 'Recurrence',
    example: { rule: 'FREQ=WEEKLY;BYDAY=MO', mode: 'on_complete', timezone: 'Europe/Berlin', until: null, count: null },
  });

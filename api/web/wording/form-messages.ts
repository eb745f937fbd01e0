import type { z } from 'zod';

/** Messages beside a form's field, where the API's would repeat the label. */
export const FORM_MESSAGES = {
  error(issue: z.core.$ZodRawIssue): string {
    const origin = 'origin' in issue ? issue.origin : undefined;
    const unit = origin === 'string' ? ' characters' : '';
    if (issue.code === 'too_small' && (issue.minimum > 1 || origin === 'number' || origin === 'int'))
      return `At least ${issue.minimum}${unit}`;
    if (issue.code === 'too_big') return `At most ${issue.maximum}${unit}`;
    return issue.code === 'too_small' || issue.code === 'invalid_type' ? 'Required' : 'Invalid value';
  },
};

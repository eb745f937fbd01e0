import type { z } from 'zod';

/** Says plainly what zod says of a value that is missing or not among the allowed ones; undefined leaves its message. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is missing';
  if (issue.code === 'invalid_value') return `must be ${issue.values.join(' or ')}`;
  return undefined;
}

import { z } from 'zod';
import { Id, Text } from '../../../platform/fields.js';
import { AskedOperation, REQUEST_ROLES, RequestRequirement } from '../schema.js';

export const RulesPath = z.object({ team_id: Id });

/** Most rules of a team. */
export const MAX_RULES = 100;
const Pattern = (max: number) =>
  Text.max(max)
    .regex(/^[^*]*\*?$/, 'may have * only at its end')
    .meta({ description: 'Equal, or up to a `*` at the end' });

const Rule = z.object({
  system: Pattern(300),
  name: Pattern(201).default('*'),
  target: Pattern(2_001).default('*').meta({ description: 'An operation without a target has the empty one' }),
  role: z.enum(REQUEST_ROLES).nullable().default(null).meta({ description: 'Null: manager' }),
  approvals: z.int().min(1).max(5).nullable().default(null).meta({ description: 'Null: 1' }),
  allow_self: z.boolean().nullable().default(null).meta({ description: 'Null: false' }),
  require_code: z.boolean().default(false),
  is_denied: z.boolean().default(false).meta({ description: 'Such a request is refused' }),
  max_use_seconds: z.int().min(30).max(86_400).nullable().default(null),
});

/** Fields of a rule, for a form. */
export const RequestRuleFields = Rule.shape;

export const SaveRequestRules = z.object({ rules: z.array(Rule).max(MAX_RULES) }).meta({ id: 'SaveRequestRules' });
export type SaveRequestRules = z.output<typeof SaveRequestRules>;

/** A rule as it is read. */
const RequestRuleRecord = z
  .object({
    rule_id: z.string(),
    system: z.string(),
    name: z.string(),
    target: z.string(),
    role: z.enum(REQUEST_ROLES).nullable(),
    approvals: z.int().nullable(),
    allow_self: z.boolean().nullable(),
    require_code: z.boolean(),
    is_denied: z.boolean(),
    max_use_seconds: z.int().nullable(),
  })
  .meta({ id: 'RequestRule' });
export const RequestRules = z
  .object({
    rules: z.array(RequestRuleRecord).meta({ description: 'The first one that matches an operation holds' }),
    version: z.int().meta({ description: 'Of the whole list; `If-Match` of a replacement' }),
  })
  .meta({ id: 'RequestRules' });
export type RequestRules = z.output<typeof RequestRules>;

export const TestRequestRules = z.object({ operation: AskedOperation }).meta({ id: 'TestRequestRules' });
export const TestedRequestRules = z
  .object({
    rule: RequestRuleRecord.nullable().meta({ description: 'Null: no rule matches, and the default holds' }),
    requirement: RequestRequirement,
  })
  .meta({ id: 'TestedRequestRules' });
export type TestedRequestRules = z.output<typeof TestedRequestRules>;

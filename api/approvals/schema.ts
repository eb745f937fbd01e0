import { z } from 'zod';
import { GATE_ROLES } from '../automation/actions/rules.js';
import { Id, StrictInt, Text, Timestamp } from '../platform/fields.js';
import { byCursor } from '../platform/endpoint/pages.js';
import { ApproversMissing } from '../gate/requirement/approvers-missing.js';
import { ActionLine } from '../gate/staging/schema.js';

export const DECISION_KINDS = ['gate', 'plan', 'request'] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];
const STATES = ['pending', 'approved', 'rejected', 'expired', 'cancelled', 'stale'] as const;
export type DecisionState = (typeof STATES)[number];

export const ListDecisions = z.object({
  ...byCursor('id', StrictInt(1, 100, 50)),
  team_id: Id.optional(),
  kind: z.enum(DECISION_KINDS).optional(),
  state: z
    .enum(['pending', 'expired'])
    .default('pending')
    .meta({ description: '`expired`: gates past their deadline, which can still be rejected' }),
});
export type ListDecisions = z.output<typeof ListDecisions>;

export const DecisionParams = z.object({ kind: z.enum(DECISION_KINDS), id: Id });

/** A decision that waits for people, or has ended: a gate of a run, a plan of the agent, or a change request. */
export const Decision = z
  .object({
    kind: z.enum(DECISION_KINDS),
    id: z.string().meta({ description: '`run_id` of a gate, `action_id` of a plan, `request_id` of a request' }),
    gate_index: z.int().nullable(),
    title: z.string(),
    message: z.string().nullable().meta({ description: 'What the gate asks; the reason of a request' }),
    team_id: z.string().nullable(),
    requested_by: z
      .string()
      .nullable()
      .meta({ description: 'Who started the run or caused it; for whom a plan was staged; who made the request' }),
    requested_at: Timestamp,
    expires_at: Timestamp,
    state: z.enum(STATES),
    requirement: z.object({
      role: z.enum(GATE_ROLES).nullable().meta({ description: 'Lowest role; null for a plan or a run of one person' }),
      approvals: z.int(),
      allow_self: z.boolean(),
      signed_in: z.boolean().meta({ description: 'No token decides' }),
      code: z
        .boolean()
        .optional()
        .meta({ description: 'Of a request: the approver types the code that the requester reads out' }),
    }),
    approvals: z.array(z.object({ user_id: z.string(), at: Timestamp, comment: z.string().optional() })),
    decided_by: z.string().nullable(),
    decided_at: Timestamp.nullable(),
    comment: z.string().nullable().meta({ description: 'Comment of the user who rejected or confirmed' }),
    staged_hash: z
      .string()
      .meta({ description: 'Of the text that is performed; `plan_hash` of a plan, `request_hash` of a request' }),
    seen_hash: z
      .string()
      .nullable()
      .meta({ description: 'Of that text and the versions of its targets now; null once it has ended' }),
    actions: z
      .array(ActionLine)
      .nullable()
      .meta({ description: 'Null in a list if they are too long for it: read the decision by its id' }),
    behind: z.array(z.string()).meta({ description: 'Users behind the cause; where `allow_self` is false they may not approve' }),
    approvers_missing: ApproversMissing,
    can_decide: z.boolean(),
    started_with_event: z.boolean().meta({ description: 'Started manually or by a call, with an event of its own' }),
    url: z.string().meta({ description: 'Page of the decision' }),
  })
  .meta({ id: 'Decision' });
export type Decision = z.output<typeof Decision>;

/** A time with its offset. */
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;
const Moment = z
  .string()
  .refine((text) => MOMENT.test(text) && !Number.isNaN(Date.parse(text)), 'must be a moment such as 2026-11-20T17:51:02Z');

export const ListDecided = z.object({
  ...byCursor('decision_id', StrictInt(1, 100, 50)),
  team_id: Id.optional(),
  kind: z.enum(DECISION_KINDS).optional(),
  decided_by: Id.optional().meta({ description: 'Who gave the last yes, or the no' }),
  to: Moment.optional().meta({ description: 'Decided before this moment' }),
});
export type ListDecided = z.output<typeof ListDecided>;

/** A decision that has ended, and what came of it. */
export const Decided = z
  .object({
    decision_id: z.string().meta({ description: 'Place in the list; a gate that asked twice has two' }),
    kind: z.enum(DECISION_KINDS),
    id: z.string().meta({ description: '`run_id` of a gate, `action_id` of a plan, `request_id` of a request' }),
    gate_index: z.int().nullable(),
    title: z.string().meta({ description: 'Name of the automation, summary of the plan, title of the request' }),
    message: z.string().nullable().meta({ description: 'What the gate asked' }),
    team_id: z.string().nullable(),
    state: z
      .enum(['approved', 'rejected', 'expired', 'cancelled'])
      .meta({ description: '`cancelled`: also what became out of date' }),
    closed_reason: z
      .string()
      .nullable()
      .meta({ description: 'Why a plan or a request was closed, such as `superseded` or `requester`; why a run was skipped' }),
    requested_by: z.string().nullable(),
    requested_at: Timestamp,
    decided_by: z.string().nullable().meta({ description: 'Who gave the last yes, or the no; null if nobody did' }),
    decided_at: Timestamp,
    comment: z.string().nullable().meta({ description: 'What they said' }),
    approved_by: z
      .array(z.string())
      .meta({ description: 'Users whose approvals count now, the first one first; empty for a plan' }),
    status: z.string().meta({ description: 'What came of it: status of the run, plan or request now' }),
    outcome: z.string().nullable().meta({ description: 'What the program reported of a request that was used' }),
    url: z.string().meta({ description: 'Page with what was shown and what came of it' }),
  })
  .meta({ id: 'Decided' });
export type Decided = z.output<typeof Decided>;

export const ReadFigures = z.object({
  team_id: Id.optional().meta({ description: 'Default: your own runs and plans' }),
  from: Moment.optional().meta({ description: 'Default: 30 days before `to`' }),
  to: Moment.optional().meta({ description: 'Default: now' }),
  by: z.enum(['source', 'approver']).default('source').meta({ description: 'Of others, approvers are shown to managers only' }),
});
export type ReadFigures = z.output<typeof ReadFigures>;

export const DecisionFigures = z
  .object({
    from: Timestamp,
    to: Timestamp,
    by: z.enum(['source', 'approver']),
    figures: z.array(
      z.object({
        key: z
          .string()
          .nullable()
          .meta({ description: 'Automation, source of plans, system of requests such as `request:payments`, or user' }),
        count: z.int().meta({ description: 'Everything that ended' }),
        approved: z.int(),
        rejected: z.int(),
        expired: z.int(),
        cancelled: z.int().meta({ description: 'Also stale and superseded plans' }),
        waiting_p50_seconds: z.number().nullable(),
        waiting_p95_seconds: z.number().nullable(),
      }),
    ),
  })
  .meta({ id: 'DecisionFigures' });
export type DecisionFigures = z.output<typeof DecisionFigures>;

const Item = z.object({
  kind: z.enum(DECISION_KINDS),
  id: Id,
  gate_index: z.int().min(0).max(49).optional(),
  staged_hash: Text.max(100).meta({ description: 'The `staged_hash` that was read' }),
});

export const DecideMany = z
  .object({
    decision: z.enum(['approve', 'reject']),
    comment: Text.max(2000).nullish(),
    mode: z
      .enum(['each', 'all'])
      .default('each')
      .meta({ description: '`each`: one transaction an item. `all`: gates and requests only, all or none' }),
    items: z.array(Item).min(1).max(100),
  })
  .refine(({ items }) => new Set(items.map(({ kind, id }) => `${kind} ${id}`)).size === items.length, {
    path: ['items'],
    message: 'names an item twice',
  })
  .meta({ id: 'DecideMany' });
export type DecideMany = z.output<typeof DecideMany>;
export type DecideItem = DecideMany['items'][number];

export const DecideResult = z.object({
  kind: z.enum(DECISION_KINDS),
  id: z.string(),
  status: z.string().optional().meta({ description: 'Of the run, plan or request afterwards' }),
  error_code: z.string().optional(),
  reason: z.string().optional().meta({ description: '`decide_singly`: open it and decide it by itself' }),
  message: z.string().optional(),
  http_status: z.int().optional(),
});
export type DecideResult = z.output<typeof DecideResult>;
export const DecidedMany = z.object({ results: z.array(DecideResult) }).meta({ id: 'DecidedMany' });

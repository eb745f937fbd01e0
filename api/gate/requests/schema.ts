import { z } from 'zod';
import { Flag, Id, StrictInt, Text, Timestamp, Title } from '../../platform/fields.js';
import { byCursor } from '../../platform/endpoint/pages.js';
import { RISKS } from '../contract/action-type.js';
import { ApproversMissing } from '../requirement/approvers-missing.js';
import { OperationInput } from '../staging/request-text.js';

/** Roles that a request or a rule may require, lowest first. */
export const REQUEST_ROLES = ['member', 'manager', 'admin'] as const;
const REQUEST_STATUSES = ['pending', 'approved', 'redeemed', 'rejected', 'cancelled', 'expired', 'stale'] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];
const CLOSED_REASONS = [
  'requester',
  'manager',
  'approver',
  'changed',
  'source_gone',
  'time',
  'use_window',
  'tool_changed',
  'code',
] as const;
const OUTCOMES = ['succeeded', 'failed', 'unknown'] as const;

export const RequestPath = z.object({ request_id: Id });

const Claims = {
  summary: Text.max(500).optional().meta({ description: 'What the requester says that it does; shown as a claim' }),
  risk: z.enum(RISKS).optional().meta({ description: 'The requester’s claim; it only makes the request look worse' }),
  reversible: z.boolean().optional().meta({ description: 'The requester’s claim' }),
};
const Arguments = z.unknown().meta({
  override: { type: 'object', additionalProperties: true, description: 'Exactly what the operation is given' },
});
/** An operation with what the requester claims about it. */
const known = { ...OperationInput.shape, arguments: Arguments, ...Claims };
const isKnown = (operation: object): boolean => Object.keys(operation).every((key) => Object.hasOwn(known, key));
export const AskedOperation = z
  .looseObject(known)
  .refine(isKnown, { message: `has only ${Object.keys(known).join(', ')}`, abort: true })
  .meta({ id: 'AskedOperation', additionalProperties: false });
export type AskedOperation = z.output<typeof AskedOperation>;

/** The same in an edit, where the system of an operation that Assent performs stays: an address. */
const EditedOperation = z
  .looseObject({ ...known, system: Text.min(1).max(300) })
  .refine(isKnown, { message: `has only ${Object.keys(known).join(', ')}`, abort: true })
  .meta({ id: 'EditedOperation', additionalProperties: false });

const MAX_OPERATIONS = 20;
const Comment = Text.max(2000).nullish();
const Hash = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be the `request_hash` that was read')
  .meta({ description: 'The `request_hash` that was read' });

/** Fields of a new request beside its operations. */
export const NEW_REQUEST = {
  team_id: Id,
  title: Title(200),
  reason: Text.max(2000).nullish(),
  requirement: z
    .object({
      role: z.enum(REQUEST_ROLES).optional(),
      approvals: z.int().min(1).max(5).optional(),
      allow_self: z.boolean().optional(),
    })
    .optional()
    .meta({ description: 'It only raises what the rules of the team require' }),
  expires_in_seconds: z.int().min(60).max(2_592_000).default(86_400),
  use_within_seconds: z
    .int()
    .min(30)
    .max(86_400)
    .default(900)
    .meta({ description: 'Time from the approval to the use; a rule may shorten it' }),
  source: z.enum(['api', 'cli']).default('api'),
  editable: z
    .array(Text.max(500).regex(/^\/operations\/[0-9]+\//, 'must be a pointer such as /operations/0/arguments/amount'))
    .max(100)
    .default([])
    .meta({ description: 'JSON pointers into the request’s text that an approver may change' }),
  context: z
    .record(Text.min(1).max(100), Text.max(500))
    .refine((pairs) => Object.keys(pairs).length <= 20, 'has more than 20 members')
    .nullish()
    .meta({
      description:
        'Claims of the requester, such as a commit or a build; shown as claims. `task`, an id or a name such as `HAR-12`, shows the request on the page of that task',
    }),
};
const NewRequest = z.object(NEW_REQUEST);
export type NewRequest = z.output<typeof NewRequest>;
/** What a program asks to do itself: one operation, or several. */
export const OPERATIONS = {
  operation: AskedOperation.optional().meta({ description: 'One operation; several go into `operations`' }),
  operations: z.array(AskedOperation).min(1).max(MAX_OPERATIONS).optional(),
};

export const RequestRequirement = z.object({
  role: z.enum(REQUEST_ROLES),
  approvals: z.int(),
  allow_self: z.boolean().meta({ description: 'People behind the request may approve it, signed in' }),
  code: z.boolean().meta({ description: 'The approver types the code that the requester reads out' }),
});

const Outcome = z.object({
  status: z.enum(OUTCOMES),
  at: Timestamp,
  exit_code: z.int().optional(),
  duration_ms: z.int().optional(),
  output: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** An operation as it is shown and executed. */
const ShownOperation = z
  .object({
    system: z.string(),
    name: z.string(),
    target: z.string().nullable(),
    arguments: z.record(z.string(), z.unknown()),
    arguments_cut: z.boolean().optional().meta({ description: 'Too long for a list; read the request by its id' }),
    tool_hash: z.string().optional(),
    summary: z.string().optional(),
    risk: z.enum(RISKS).optional(),
    reversible: z.boolean().optional(),
  })
  .meta({ id: 'ShownOperation' });

export const ChangeRequest = z
  .object({
    request_id: z.string(),
    team_id: z.string(),
    requested_by: z.string(),
    token_id: z.string().nullable(),
    source: z.enum(['api', 'cli', 'mcp', 'gateway']),
    title: z.string(),
    reason: z.string().nullable(),
    operations: z.array(ShownOperation),
    operation_hashes: z.array(z.string()),
    request_hash: z.string().meta({ description: 'Of the text that people approve and that is executed' }),
    revision: z.int().meta({ description: 'An edit makes the next one; approvals of others are void' }),
    executor: z.enum(['requester', 'assent']),
    editable: z.array(z.string()),
    context: z.record(z.string(), z.string()).nullable(),
    requirement: RequestRequirement,
    approvals_needed: z.int().meta({ description: 'Approvals that are missing' }),
    decisions: z.array(
      z.object({
        user_id: z.string(),
        decision: z.enum(['approved', 'rejected']),
        at: Timestamp,
        comment: z.string().nullable(),
        revision: z.int(),
      }),
    ),
    behind: z
      .array(z.string())
      .meta({ description: 'Users behind the request; where `allow_self` is false they may not approve' }),
    status: z.enum(REQUEST_STATUSES),
    closed_reason: z.enum(CLOSED_REASONS).nullable(),
    seq: z.int().meta({ description: 'Grows with every change; `seen` of a read that waits' }),
    created_at: Timestamp,
    expires_at: Timestamp,
    use_within_seconds: z.int(),
    use_until: Timestamp.nullable(),
    redeemed_at: Timestamp.nullable(),
    redeemed_by: z.string().nullable(),
    ended_at: Timestamp.nullable(),
    outcome: Outcome.nullable(),
    earlier: z
      .array(z.object({ request_id: z.string(), status: z.enum(REQUEST_STATUSES), at: Timestamp }))
      .meta({ description: 'Requests of the last 7 days for one of the same operations, newest first, at most 10' }),
    approvers_missing: ApproversMissing,
    can_decide: z.boolean(),
    code: z.string().nullable().meta({ description: 'Told to the requester only; an approver may have to type it' }),
    url: z.string().meta({ description: 'Page on which people decide' }),
  })
  .meta({ id: 'ChangeRequest' });
export type ChangeRequest = z.output<typeof ChangeRequest>;

export const ReadRequest = z.object({
  wait: StrictInt(0, 25, 0).meta({ description: 'Seconds to wait for a change after `seen`' }),
  seen: StrictInt(0, 999_999_999, 0).meta({ description: 'The `seq` that the caller has' }),
});
export type ReadRequest = z.output<typeof ReadRequest>;

export const ListRequests = z.object({
  team_id: Id.optional(),
  status: z.enum(REQUEST_STATUSES).optional(),
  system: z.string().max(64).optional(),
  mine: Flag.meta({ description: 'Only those that the caller made' }),
  decidable: Flag.meta({ description: 'Only those that wait and that the caller may approve' }),
  ...byCursor('request_id', StrictInt(1, 100, 50)),
});
export type ListRequests = z.output<typeof ListRequests>;
export const ChangeRequests = z
  .object({
    requests: z.array(ChangeRequest),
    next_cursor: z.string().nullable().meta({ description: '`before` of the next page' }),
  })
  .meta({
    id: 'ChangeRequests',
    description: 'Newest first. Arguments longer than 500 characters are left out, as `arguments_cut` says',
  });

export const ApproveRequest = z
  .object({
    request_hash: Hash,
    comment: Comment,
    code: Text.max(20).nullish().meta({ description: 'Where the requirement asks for it' }),
  })
  .meta({ id: 'ApproveRequest' });
export type ApproveRequest = z.output<typeof ApproveRequest>;
export const ApprovedRequest = z
  .object({ request_id: z.string(), status: z.enum(REQUEST_STATUSES), approvals_needed: z.int(), seq: z.int() })
  .meta({ id: 'ApprovedRequest' });
export type ApprovedRequest = z.output<typeof ApprovedRequest>;

export const RejectRequest = z.object({ request_hash: Hash, comment: Comment }).meta({ id: 'RejectRequest' });
export type RejectRequest = z.output<typeof RejectRequest>;
export const CancelRequest = z.object({ reason: Text.max(2000).nullish() }).meta({ id: 'CancelRequest' });
export const EditRequest = z
  .object({
    request_hash: Hash,
    operations: z.array(EditedOperation).min(1).max(MAX_OPERATIONS),
    comment: Comment,
  })
  .meta({ id: 'EditRequest' });
export type EditRequest = z.output<typeof EditRequest>;

export const RedeemRequest = z
  .object({
    request_hash: Hash,
    redemption_id: z
      .uuid()
      .toLowerCase()
      .meta({ description: 'Made by the caller; the same one again returns the same receipt' }),
    receipt_seconds: z.int().min(10).max(3_600).default(300).meta({ description: 'How long the receipt is valid' }),
  })
  .meta({ id: 'RedeemRequest' });
export type RedeemRequest = z.output<typeof RedeemRequest>;
export const RedeemedRequest = z
  .object({
    operations: z.array(ShownOperation).meta({ description: 'Execute these, and nothing else' }),
    operation_texts: z.array(z.string()).meta({ description: 'Text of each operation, which a verifier of the receipt takes' }),
    receipt: z.string().meta({ description: 'A signed proof for the service that executes' }),
    request: ChangeRequest,
  })
  .meta({ id: 'RedeemedRequest' });
export type RedeemedRequest = z.output<typeof RedeemedRequest>;

export const ReportOutcome = z
  .object({
    status: z.enum(OUTCOMES),
    exit_code: z.int().min(0).max(255).optional(),
    duration_ms: z.int().min(0).optional(),
    output: Text.max(4000).optional(),
    details: z
      .record(z.string(), z.unknown())
      .refine((details) => JSON.stringify(details).length <= 8_192, 'is longer than 8 kB')
      .optional(),
  })
  .meta({ id: 'ReportOutcome' });
export type ReportOutcome = z.output<typeof ReportOutcome>;

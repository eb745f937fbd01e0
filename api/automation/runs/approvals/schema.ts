import { z } from 'zod';
import { StrictInt, Text, Timestamp } from '../../../platform/fields.js';
import { byCursor } from '../../../platform/endpoint/pages.js';
import { TriggerType } from '../../definitions/schema.js';
import { RUN_STATUSES } from '../record/rules.js';
import { GATE_ROLES } from '../../actions/rules.js';
import { ApproversMissing } from '../../../gate/requirement/approvers-missing.js';

/** Defaults to the gate that waits. If given, a decision about one gate never decides the next. */
const GateIndex = z.int().min(0).max(49).nullish().meta({
  description: 'Index of the gate from the list; 409 if another gate is pending. Recommended: see the description of the route',
});

/** Comment of the user who decides. Plain text: it is shown, and never a template's input. */
const Comment = Text.max(2000).nullish().meta({ description: 'Plain text for the audit log, the activity and the timeline' });
const Hash = Text.max(100).nullish();

export const ApproveGate = z
  .object({
    gate_index: GateIndex,
    staged_hash: Hash.meta({ description: 'The `staged_hash` that was read; another one is a 409' }),
    seen_hash: Hash.meta({ description: 'The `seen_hash` that was read; if a target has changed since, 409 with `changed`' }),
    comment: Comment,
  })
  .meta({ id: 'ApproveGate' });
export type ApproveGate = z.output<typeof ApproveGate>;
export const RejectGate = z
  .object({
    gate_index: GateIndex,
    reason: Comment,
    staged_hash: Hash.meta({ description: 'The `staged_hash` that was read; another one is a 409' }),
    comment: Comment.meta({ description: 'Another name for `reason`, which wins' }),
  })
  .meta({ id: 'RejectGate' });
export type RejectGate = z.output<typeof RejectGate>;

const decided = {
  run_id: z.string(),
  status: z.enum(RUN_STATUSES),
  decided_by: z.string(),
  decided_at: Timestamp,
};
export const Approved = z
  .object({
    ...decided,
    decision: z.literal('approved'),
    approvals_needed: z.int().meta({ description: 'Further people who must approve before the run goes on' }),
    gate_index: z.int(),
  })
  .meta({ id: 'Approved' });
export type Approved = z.output<typeof Approved>;
export const Rejected = z.object({ ...decided, decision: z.literal('rejected') }).meta({ id: 'Rejected' });
export type Rejected = z.output<typeof Rejected>;

export const ListApprovals = z.object(byCursor('run_id', StrictInt(1, 200, 50)));
export type ListApprovals = z.output<typeof ListApprovals>;

export const ApprovalList = z
  .object({
    approvals: z.array(
      z.object({
        run_id: z.string(),
        automation_id: z.string(),
        automation_name: z.string(),
        automation_version: z.int().meta({ description: 'The version that the run keeps: what happens comes from it' }),
        current_version: z.int().meta({ description: 'The version of the automation now' }),
        team_id: z.string().nullable(),
        project_id: z.string().nullable(),
        gate_index: z.int(),
        message: z.string().nullable(),
        required_role: z.enum(GATE_ROLES),
        required_approvals: z.int(),
        approvals: z.array(z.object({ user_id: z.string(), at: Timestamp })),
        approvers_missing: ApproversMissing,
        can_decide: z
          .boolean()
          .meta({ description: 'You have the role, and the run is not your own where the gate forbids that' }),
        requested_at: Timestamp,
        expires_at: Timestamp,
        expired: z.boolean().meta({ description: 'Too late to approve; rejecting still works' }),
        creator_left: z.boolean().meta({
          description: 'The creator may no longer act in the team: approving is 409 `creator_not_authorized`, rejecting works',
        }),
        trigger_type: TriggerType,
        staged_action_types: z.array(z.string()),
        staged_hash: z
          .string()
          .meta({ description: 'Of what would be released; the audit entry of the decision holds the same' }),
        reopened: z.int().meta({ description: 'How often a change after the approval has opened the gate again' }),
        failed_before_gate: z.int().meta({ description: 'Actions that failed already; they stay failed' }),
      }),
    ),
    total: z.int(),
  })
  .meta({ id: 'ApprovalList' });
export type ApprovalList = z.output<typeof ApprovalList>;

import { z } from 'zod';
import { Id, Text, Timestamp } from '../../../platform/fields.js';
import { ActionPlan, PLAN_STATUSES, PlanAction } from '../schema.js';
import { PLAN_SOURCES } from '../../../gate/work-actions/action.js';
import { RISKS } from '../../../gate/contract/action-type.js';

export const ConfirmPlan = z
  .object({
    session_id: Id,
    action_id: Id.meta({ description: '`action_id` of the plan' }),
    confirmed: z.boolean().default(true).meta({ description: 'false discards the plan' }),
    action_indexes: z
      .array(z.int().min(0))
      .min(1)
      .max(50)
      .optional()
      .meta({ description: 'Applies these actions only; the others are never applied. Default: all' }),
    seen_hash: Text.max(100)
      .nullish()
      .meta({ description: 'The `seen_hash` of the decision; if a target has changed since, 409 and the plan stays' }),
    comment: Text.max(2000).nullish().meta({ description: 'Plain text for the audit log and the activity' }),
    plan_hash: Text.max(100).nullish().meta({ description: 'The `plan_hash` that was read; another one is a 409' }),
  })
  .meta({ id: 'ConfirmPlan' });
export type ConfirmPlan = z.output<typeof ConfirmPlan>;

const Result = z.object({
  index: z.int(),
  status: z.enum(['applied', 'skipped']),
  entity_type: PlanAction.shape.entity_type,
  entity_id: z.string().nullable().meta({ description: 'What was changed or created' }),
});

export const DecidedPlan = z
  .object({
    success: z.literal(true),
    action_id: z.string(),
    session_id: z.string(),
    status: z.enum(['applied', 'discarded']),
    message: z.string(),
    results: z.array(Result),
    decided_by: z.string(),
    decided_at: Timestamp,
    correlation_id: z.string(),
  })
  .meta({ id: 'DecidedPlan' });
export type DecidedPlan = z.output<typeof DecidedPlan>;

/** Answer of the deprecated route. */
export const ConfirmedAction = z
  .object({ success: z.literal(true), action_id: z.string(), message: z.string(), details: DecidedPlan })
  .meta({ id: 'ConfirmedAction' });

export const EditPlan = z
  .object({
    plan_hash: Text.max(100).meta({ description: 'The `plan_hash` that was read; another one is a 409' }),
    changes: z
      .array(
        z.object({
          index: z.int().min(0).max(49),
          params: z
            .record(z.string(), z.unknown())
            .meta({ description: 'Merged by key; null clears a field where the action allows it' }),
        }),
      )
      .max(50)
      .meta({ description: 'None: proposes the same again, on the values of now' }),
  })
  .meta({ id: 'EditPlan' });
export type EditPlan = z.output<typeof EditPlan>;

export const EditedPlan = z
  .object({
    ...ActionPlan.shape,
    session_id: z.string(),
    edited_from: z.string().meta({ description: 'The plan that it replaces' }),
    omitted: z.array(z.object({ index: z.int(), reason: z.string() })).meta({ description: 'Actions that change nothing now' }),
  })
  .meta({ id: 'EditedPlan' });
export type EditedPlan = z.output<typeof EditedPlan>;

export const PlanParams = z.object({ action_id: Id });

/** A plan in any status. */
export const PlanRecord = z
  .object({
    ...ActionPlan.shape,
    session_id: z.string(),
    team_id: z.string().nullable().meta({ description: 'Null for a plan of a person' }),
    project_id: z.string().nullable(),
    source: z.enum(PLAN_SOURCES),
    trigger: z.record(z.string(), z.unknown()).nullable(),
    status: z.enum(PLAN_STATUSES),
    closed_reason: z.enum(['person', 'superseded', 'source_gone']).nullable(),
    risk: z.enum(RISKS),
    created_at: Timestamp,
    decided_by: z.string().nullable(),
    decided_at: Timestamp.nullable(),
    comment: z.string().nullable().meta({ description: 'Comment of the user who decided' }),
    undo_of: z.string().nullable(),
    undone_by: z.string().nullable().meta({ description: 'The plan that takes this one back, if it is staged or applied' }),
    stale: z
      .array(z.object({ index: z.int(), expected: z.int(), found: z.int() }))
      .meta({ description: 'Actions whose targets have changed; the others can still be confirmed' }),
    results: z.array(Result).nullable().meta({ description: 'Null while nothing was applied' }),
  })
  .meta({ id: 'Plan' });
export type PlanRecord = z.output<typeof PlanRecord>;

export const UndonePlan = z
  .object({
    ...ActionPlan.shape,
    session_id: z.string(),
    undo_of: z.string(),
    omitted: z
      .array(z.object({ index: z.int(), reason: z.string() }))
      .meta({ description: 'Changes that cannot be undone, by their index in the applied plan' }),
  })
  .meta({ id: 'UndonePlan' });
export type UndonePlan = z.output<typeof UndonePlan>;

import { z } from 'zod';
import { GATE_ROLES } from '../actions/rules.js';
import { Paging, TriggerType } from '../definitions/schema.js';
import { Id, Timestamp } from '../../platform/fields.js';
import { ACTION_STATUSES, RUN_STATUSES } from './record/rules.js';

export const RunParams = z.object({ run_id: Id });

const RunStatus = z.preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), z.enum(RUN_STATUSES));
export const ListRuns = Paging.extend({ status: RunStatus.optional() });
export type ListRuns = z.output<typeof ListRuns>;

const Failure = z.object({ code: z.string(), message: z.string() });

const RunAction = z
  .object({
    index: z.int(),
    type: z.string(),
    name: z.string().nullable(),
    status: z.enum(ACTION_STATUSES),
    attempts: z.int(),
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
    due_at: Timestamp.nullable().meta({ description: 'When a delay ends or the next attempt is due' }),
    output: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'Output of the action; for a gate, the decision, its user and time; `skipped` says why its condition skipped it',
    }),
    error: Failure.nullable(),
  })
  .meta({ id: 'RunAction' });

/** The latest gate of a run. */
const RunApproval = z
  .object({
    gate_index: z.int(),
    required_role: z.enum(GATE_ROLES),
    required_approvals: z.int(),
    approvals: z.array(z.object({ user_id: z.string(), at: Timestamp, comment: z.string().optional() })),
    requested_at: Timestamp,
    expires_at: Timestamp,
    expired: z.boolean(),
    decision: z.enum(['approved', 'rejected']).nullable(),
    decided_by: z.string().nullable(),
    decided_at: Timestamp.nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'RunApproval' });

const runFields = {
  run_id: z.string(),
  automation_id: z.string(),
  automation_name: z.string(),
  automation_version: z.int(),
  team_id: z.string().nullable(),
  project_id: z.string().nullable(),
  status: z.enum(RUN_STATUSES),
  skip_reason: z.enum(['condition_false', 'rejected', 'loop']).nullable(),
  condition_error: z.string().nullable(),
  trigger_type: TriggerType,
  event_truncated: z.boolean(),
  is_test: z.boolean(),
  triggered_by: z.string().nullable(),
  depth: z.int(),
  retry_of: z.string().nullable(),
  retried_by: z.string().nullable(),
  queued_at: Timestamp,
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable(),
  duration_ms: z.int().nullable(),
  error: Failure.nullable(),
  actions: z.array(RunAction),
  approval: RunApproval.nullable(),
  workflow_id: z.string().nullable().meta({ description: 'null if no workflow was needed' }),
};
/** A run in a list; only the single run has its event. */
export const RunSummary = z.object(runFields).meta({ id: 'RunSummary' });
export type RunSummary = z.output<typeof RunSummary>;
export const RunRecord = z.object({ ...runFields, event: z.record(z.string(), z.unknown()) }).meta({ id: 'Run' });
export type RunRecord = z.output<typeof RunRecord>;

import { z } from 'zod';
import { Id, OptionalInt, Text, Timestamp, Title } from '../../platform/fields.js';
import { byCursor, byOffset } from '../../platform/endpoint/pages.js';
import { TRIGGERS } from '../language/triggers.js';
import { RUN_STATUSES } from '../runs/record/rules.js';

/** Maximum actions of one automation (docs/decisions/automation.md#automation-limits). */
const MAX_ACTIONS = 50;

/** The document lists the triggers; the operation checks them, because an unknown one is a 400 and no 422. */
export const TriggerType = z.string().meta({
  id: 'TriggerType',
  override: { type: 'string', enum: TRIGGERS.filter(({ available }) => available).map(({ key }) => key) },
  description: 'A key of GET /api/automations/triggers',
  example: 'task.created',
});

const Action = z
  .looseObject({
    type: z.string(),
    name: Title(100).nullish(),
    if: Text.nullish().meta({
      description:
        'CEL expression over the event: a run skips the action where it is false, and fails it where it cannot be evaluated. Not on a gate',
      example: "event.task.priority == 'urgent'",
    }),
    params: z
      .record(z.string(), z.unknown())
      .nullish()
      .meta({ description: 'Templates such as `{{event.task.title}}`; without `params`, the other keys of the action are used' }),
    on_failure: z.enum(['continue', 'stop']).nullish(),
    retry: z.object({ max_attempts: z.int().min(1).max(5) }).nullish(),
  })
  .meta({ id: 'AutomationActionInput' });

/**
 * The operation rejects an unknown trigger, condition, action or time zone with 400 and the position
 * (docs/decisions/platform.md#status-400-or-422).
 */
const definition = {
  name: Title(200),
  description: Text.max(2000).nullish(),
  trigger_type: TriggerType,
  condition: Text.nullish().meta({ description: 'CEL expression; empty or null = always', example: 'task.priority == "urgent"' }),
  actions: z.array(Action).max(MAX_ACTIONS).nullish().meta({ description: 'With the condition at most 64 kB as stored' }),
  is_active: z.boolean().nullish(),
  schedule_cron: Text.max(200)
    .nullish()
    .meta({ description: 'Five fields, for the trigger `schedule`', example: '0 9 * * MON-FRI' }),
  schedule_timezone: Text.max(100).nullish().meta({ description: 'IANA name; UTC when absent' }),
  team_id: Id.nullish(),
  project_id: Id.nullish().meta({ description: 'Only events of this project match; without `team_id` it sets the team' }),
  is_protected: z.boolean().nullish().meta({
    description:
      'Only team admins may change, toggle, roll back, take over or delete it. Only they may set this; it creates no version',
  }),
};
export const LastReadVersion = z
  .int()
  .min(1)
  .max(2_147_483_647)
  .nullish()
  .meta({ description: 'The version last read; an outdated one is a 409' });
const versioned = {
  version: LastReadVersion,
  change_note: Text.max(500).nullish(),
};

export const CreateAutomation = z.object(definition).meta({ id: 'CreateAutomation' });
export type CreateAutomation = z.output<typeof CreateAutomation>;

/** Full replacement: omitted fields return to their defaults. */
export const ReplaceAutomation = z.object({ ...definition, ...versioned }).meta({ id: 'ReplaceAutomation' });
export type ReplaceAutomation = z.output<typeof ReplaceAutomation>;

export const UpdateAutomation = z
  .object({
    ...definition,
    name: definition.name.optional(),
    trigger_type: definition.trigger_type.optional(),
    is_active: z.boolean().optional(),
    is_protected: definition.is_protected.unwrap().unwrap().optional(),
    ...versioned,
  })
  .meta({ id: 'UpdateAutomation' });
export type UpdateAutomation = z.output<typeof UpdateAutomation>;

export const AutomationParams = z.object({ automation_id: Id });
export const ListAutomations = z.object({
  team_id: Id.optional(),
  project_id: Id.optional(),
  ...byCursor('automation_id', OptionalInt(1, 500)),
});
export type ListAutomations = z.output<typeof ListAutomations>;

export const Paging = z.object(byOffset());
export const StoredAction = z
  .object({
    type: z.string(),
    name: z.string().optional(),
    if: z.string().optional(),
    params: z.record(z.string(), z.unknown()),
    on_failure: z.enum(['continue', 'stop']),
    retry: z.object({ max_attempts: z.int() }).optional(),
  })
  .meta({ id: 'AutomationAction' });

const automationFields = {
  automation_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  trigger_type: TriggerType,
  trigger_config: z.record(z.string(), z.unknown()),
  condition: z.string().nullable(),
  actions: z.array(StoredAction),
  is_active: z.boolean(),
  schedule_cron: z.string().nullable(),
  schedule_timezone: z.string(),
  team_id: z.string().nullable(),
  project_id: z.string().nullable(),
  version: z.int(),
  created_by: z.string(),
  created_at: Timestamp,
  updated_by: z.string(),
  updated_at: Timestamp,
  next_run_at: Timestamp.nullable(),
  next_runs: z.array(Timestamp).meta({ description: 'The next five times of its schedule, while it is enabled' }),
  last_run_at: Timestamp.nullable(),
  last_run_status: z.enum(RUN_STATUSES).nullable(),
  run_count: z.int(),
  failed_count: z.int(),
  skipped_not_kept: z.int().meta({
    description: 'Skipped runs that were counted and not kept, because their team had too many in an hour',
  }),
  disabled_reason: z.string().nullable().meta({
    description:
      '`creator_left`: take it over, then enable it; `rate_breaker`: other runs started it too often; null: disabled by a user',
  }),
  is_protected: z.boolean().meta({ description: 'Only team admins may change, toggle, roll back, take over or delete it' }),
};
export const AutomationRecord = z.object(automationFields).meta({ id: 'Automation' });
export type AutomationRecord = z.output<typeof AutomationRecord>;

export const SavedAutomation = z
  .object({
    ...automationFields,
    warnings: z.array(z.string()).meta({
      description: 'Missing prerequisites of the actions: secrets, connections, approvers; and templates whose path no event has',
    }),
  })
  .meta({ id: 'SavedAutomation' });
export type SavedAutomation = z.output<typeof SavedAutomation>;

export const DeletedAutomation = z
  .object({ success: z.literal(true), automation_id: z.string(), cancelled_runs: z.int() })
  .meta({ id: 'DeletedAutomation' });

export const ToggleAutomation = z
  .object({
    is_active: z.boolean().nullish().meta({ description: 'The other state when absent' }),
    cancel_running: z.boolean().nullish().meta({ description: 'When switching off: end the runs that wait or are at work' }),
    version: LastReadVersion,
  })
  .meta({ id: 'ToggleAutomation' });
export type ToggleAutomation = z.output<typeof ToggleAutomation>;

export const Toggled = z
  .object({ automation_id: z.string(), is_active: z.boolean(), cancelled_runs: z.int() })
  .meta({ id: 'Toggled' });
export type Toggled = z.output<typeof Toggled>;

export const TriggerList = z
  .object({
    triggers: z.array(
      z.object({ key: z.string(), label: z.string(), available: z.boolean(), sample_payload: z.record(z.string(), z.unknown()) }),
    ),
  })
  .meta({ id: 'TriggerList' });

export const ActionTypeList = z
  .object({
    actions: z.array(
      z.object({
        type: z.string(),
        label: z.string(),
        category: z.enum(['core', 'integration']),
        params_schema: z.record(z.string(), z.unknown()),
        integration: z.string().nullable(),
        connected: z.boolean(),
        available: z.boolean(),
        missing_scopes: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'ActionTypeList' });

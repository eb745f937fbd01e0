import { z } from 'zod';
import { Id, Text, TimeZone, Timestamp } from '../../platform/fields.js';

export const DEFAULT_CRON = '0 2 * * *';
export const DEFAULT_ZONE = 'UTC';
const MAX_QUOTA = 1_000_000_000;

export const SettingsQuery = z.object({ team_id: Id });

/** The operation checks the cron line, because a malformed one returns 400, not 422 (docs/decisions/platform.md#status-400-or-422). */
const CronLine = Text.max(200).meta({ example: DEFAULT_CRON });
const Quota = z.int().min(0).max(MAX_QUOTA);

export const SaveAgentSettings = z
  .object({
    overnight_triage: z
      .object({
        enabled: z.boolean(),
        cron: CronLine.optional().meta({ description: `Five fields, at most once a day; \`${DEFAULT_CRON}\` at first` }),
        timezone: TimeZone.optional().meta({ description: `\`${DEFAULT_ZONE}\` at first` }),
      })
      .optional(),
    ci_triage: z.object({ enabled: z.boolean() }).optional(),
    monthly_message_quota: Quota.nullable().optional().meta({ description: 'Messages to the agent a month; null for no limit' }),
    external_model: z
      .object({ enabled: z.boolean() })
      .optional()
      .meta({ description: 'Allows the operator’s model to read what members link to a session; otherwise the rules answer' }),
  })
  .meta({ id: 'SaveAgentSettings', description: 'What is absent stays as it is' });
export type SaveAgentSettings = z.output<typeof SaveAgentSettings>;

/** Why an enabled overnight triage does nothing. */
const DISABLED_REASONS = ['enabler_cannot_write'] as const;

export const AgentSettingsRecord = z
  .object({
    team_id: z.string(),
    overnight_triage: z.object({
      enabled: z.boolean(),
      cron: z.string(),
      timezone: z.string(),
      next_run_at: Timestamp.nullable().meta({
        description: 'Up to 19 minutes after the time of `cron`, the same for each night of a team; null while it is not enabled',
      }),
      enabled_by: z.string().nullable().meta({ description: 'User whose permissions it uses' }),
      disabled_reason: z.enum(DISABLED_REASONS).nullable().meta({
        description: '`enabler_cannot_write`: that user may no longer write in the team; an admin enables it again by saving',
      }),
    }),
    ci_triage: z.object({ enabled: z.boolean() }),
    monthly_message_quota: z.int().nullable(),
    external_model: z.object({ enabled: z.boolean() }),
    usage: z
      .object({
        month: z.string().meta({ format: 'date', description: 'First day of the month, UTC', example: '2026-11-01' }),
        messages: z.int(),
        input_tokens: z.int(),
        output_tokens: z.int(),
        cost_micro: z.int().meta({ description: 'Millionths of the currency of the configured prices' }),
      })
      .meta({ description: 'Use of this month' }),
  })
  .meta({ id: 'AgentSettings' });
export type AgentSettingsRecord = z.output<typeof AgentSettingsRecord>;

import { run } from '../../../db/statement.js';
import { authorize, rolesFor } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { nextNight } from './nightly.js';
import { type AgentSettingsRecord, DEFAULT_CRON, DEFAULT_ZONE } from './schema.js';
import { readSettingsStatement } from './settings.sql.js';

interface Row extends Record<string, unknown> {
  overnight_enabled: boolean;
  overnight_cron: string | null;
  overnight_timezone: string | null;
  overnight_enabled_by: string | null;
  ci_enabled: boolean;
  monthly_message_quota: number | null;
  external_model: boolean;
  may_write: boolean;
  month: string;
  messages: number;
  input_tokens: number;
  output_tokens: number;
  cost_micro: number;
}

/** Reads the settings of a team without asking for a role. @throws RESOURCE_NOT_FOUND */
export async function readSettings(ctx: Pick<Context, 'db'>, teamId: string): Promise<AgentSettingsRecord> {
  const [row] = await run<Row>(ctx.db, readSettingsStatement, [teamId, rolesFor('task.write')]);
  if (!row) throw notFound('Team');
  const { overnight_enabled: enabled, overnight_cron: cron, overnight_timezone: timezone, may_write } = row;
  const next = enabled && cron && timezone ? nextNight(teamId, cron, timezone) : null;
  return {
    team_id: teamId,
    overnight_triage: {
      enabled,
      cron: cron ?? DEFAULT_CRON,
      timezone: timezone ?? DEFAULT_ZONE,
      next_run_at: next?.toISOString() ?? null,
      enabled_by: row.overnight_enabled_by,
      disabled_reason: enabled && !may_write ? 'enabler_cannot_write' : null,
    },
    ci_triage: { enabled: row.ci_enabled },
    monthly_message_quota: row.monthly_message_quota,
    external_model: { enabled: row.external_model },
    usage: {
      month: row.month,
      messages: row.messages,
      input_tokens: row.input_tokens,
      output_tokens: row.output_tokens,
      cost_micro: row.cost_micro,
    },
  };
}

/**
 * Returns how the agent works for a team, with its next overnight triage and this month's use.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin
 */
export async function getSettings(ctx: Context, teamId: string): Promise<AgentSettingsRecord> {
  authorize('agent_settings.read', await seatInTeam(ctx, teamId));
  return readSettings(ctx, teamId);
}

import { AgentSettings } from '../../../db/models/agent-settings.js';
import { authorize } from '../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { seatInTeam } from '../../platform/access/seats.js';
import { readSettings } from './get-settings.js';
import { checkNightly } from './nightly.js';
import type { AgentSettingsRecord, SaveAgentSettings } from './schema.js';

type StoredSettings = Pick<AgentSettingsRecord, 'overnight_triage' | 'ci_triage' | 'monthly_message_quota' | 'external_model'>;

/** Returns the settings with what the input names; the rest stays. @throws INVALID_REQUEST the cron line */
function merge(was: AgentSettingsRecord, input: SaveAgentSettings): StoredSettings {
  const before = was.overnight_triage;
  const { cron = before.cron, timezone = before.timezone, enabled = before.enabled } = input.overnight_triage ?? {};
  const checked = input.overnight_triage ? checkNightly(cron, timezone) : cron;
  return {
    overnight_triage: { ...before, enabled, timezone, cron: checked },
    ci_triage: input.ci_triage ?? was.ci_triage,
    monthly_message_quota: input.monthly_message_quota === undefined ? was.monthly_message_quota : input.monthly_message_quota,
    external_model: input.external_model ?? was.external_model,
  };
}

/**
 * Changes the settings of a team; what is absent stays. The overnight triage uses the permissions of the user who enables it: the caller, unless it
 * was enabled and its enabler may still write, or the input does not name it.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED below admin | INVALID_REQUEST the cron line
 */
export function saveSettings(ctx: Context, teamId: string, input: SaveAgentSettings): Promise<AgentSettingsRecord> {
  return inTransaction(ctx, async (ctx) => {
    authorize('agent_settings.write', await seatInTeam(ctx, teamId));
    await AgentSettings.query(ctx.db).insert({ team_id: teamId }).onConflict('team_id').ignore();
    // Two admins who save at once do so one after the other.
    const before = await AgentSettings.query(ctx.db).findById(teamId).forUpdate();
    const was = await readSettings(ctx, teamId);
    const { overnight_triage: overnight, ci_triage, monthly_message_quota, external_model } = merge(was, input);
    const { enabled, cron, timezone } = overnight;
    const keepsEnabler =
      input.overnight_triage === undefined || (was.overnight_triage.enabled && was.overnight_triage.disabled_reason === null);
    const enabler = keepsEnabler ? was.overnight_triage.enabled_by : requireUser(ctx);
    const allowsModel = external_model.enabled;
    await AgentSettings.query(ctx.db)
      .findById(teamId)
      .patch({
        overnight_enabled: enabled,
        overnight_cron: cron,
        overnight_timezone: timezone,
        overnight_enabled_by: enabled ? enabler : null,
        ci_enabled: ci_triage.enabled,
        monthly_message_quota,
        external_model: allowsModel,
        external_model_by: allowsModel ? (before?.external_model_by ?? requireUser(ctx)) : null,
        updated_at: new Date(),
      });
    await recordChange(ctx, {
      team_id: teamId,
      feature: 'ai_agent',
      action: 'update',
      // Texts of the team leave the installation from now on.
      severity: allowsModel && !was.external_model.enabled ? 'HIGH' : 'MEDIUM',
      entity_type: 'agent_settings',
      entity_id: teamId,
      details: { overnight_triage: { enabled, cron, timezone }, ci_triage, monthly_message_quota, external_model },
    });
    return readSettings(ctx, teamId);
  });
}

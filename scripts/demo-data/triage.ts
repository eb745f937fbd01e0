import { saveSettings } from '../../api/automation/triage/save-settings.js';
import { triageNight } from '../../api/automation/triage/triage-night.js';
import type { Context } from '../../api/platform/context.js';

/** Enables both triages of a team, by an admin, and stages the plan of last night. */
export async function enableTriage(admin: Context, teamId: string): Promise<void> {
  await saveSettings(admin, teamId, {
    overnight_triage: { enabled: true, cron: '0 2 * * *', timezone: 'UTC' },
    ci_triage: { enabled: true },
    monthly_message_quota: null,
    external_model: { enabled: false },
  });
  const { outcome } = await triageNight(admin, teamId, new Date().toISOString());
  if (outcome !== 'proposed') throw new Error(`The demo's night staged no plan: ${outcome}`);
}

import { z } from 'zod';
import { getSettings } from '../../../automation/triage/get-settings.js';
import { previewNight } from '../../../automation/triage/preview-night.js';
import { saveSettings } from '../../../automation/triage/save-settings.js';
import { SaveAgentSettings } from '../../../automation/triage/schema.js';
import type { Config } from '../../../platform/config.js';
import { ANTHROPIC_URL } from '../../../platform/settings/model-settings.js';
import { getTeam } from '../../../identity/teams/get-team.js';
import { TeamParams } from '../../../identity/teams/schema.js';
import { type FormError, page, type Page, type PageRequest, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';

const buildPath = (teamId: string) => `/app/teams/${teamId}/agent`;
const overnight = SaveAgentSettings.shape.overnight_triage.unwrap().shape;

const Box = z
  .literal('on')
  .optional()
  .transform((value) => value === 'on');

const SettingsForm = z.object({
  overnight: Box,
  cron: overnight.cron,
  timezone: overnight.timezone,
  ci: Box,
  quota: z
    .string()
    .regex(/^\d{0,9}$/, 'must be a whole number, or empty for no limit')
    .default('')
    .transform((text) => (text === '' ? null : Number(text))),
  external_model: Box,
});

/** Returns where the words of a team would go; null while the rules answer everything. */
function modelHost({ AI_PROVIDER, AI_BASE_URL }: Config): string | null {
  if (AI_PROVIDER === 'rules') return null;
  return new URL(AI_BASE_URL ?? ANTHROPIC_URL).host;
}

async function showSettings(
  { ctx }: Pick<PageRequest, 'ctx'>,
  teamId: string,
  refused: { problem?: FormError; given?: Fields } = {},
): Promise<View> {
  const [team, settings] = await Promise.all([getTeam(ctx, teamId), getSettings(ctx, teamId)]);
  const preview = await previewNight(ctx, teamId, settings.overnight_triage.timezone);
  const given = refused.given ?? {};
  const data = { team, settings, preview, model: modelHost(ctx.config), problem: refused.problem, given };
  return { view: 'teams/agent-settings', title: 'Agent', data };
}

export const agentSettingsPages: Page[] = [
  page({
    method: 'get',
    path: '/app/teams/:team_id/agent',
    access: 'agent_settings.read',
    params: TeamParams,
    handle: (visit) => showSettings(visit, visit.params.team_id),
  }),
  page({
    method: 'post',
    path: '/app/teams/:team_id/agent',
    access: 'agent_settings.write',
    limit: 'ai_settings_put',
    params: TeamParams,
    form: SettingsForm,
    async handle({ ctx, params: { team_id }, form }) {
      await saveSettings(ctx, team_id, {
        overnight_triage: { enabled: form.overnight, cron: form.cron, timezone: form.timezone },
        ci_triage: { enabled: form.ci },
        monthly_message_quota: form.quota,
        external_model: { enabled: form.external_model },
      });
      return { to: buildPath(team_id), notice: { kind: 'good', text: 'Settings saved.' } };
    },
    onError: (visit, problem) => showSettings(visit, visit.params.team_id, { problem, given: visit.form }),
  }),
];

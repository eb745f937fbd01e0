import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { getSettings } from './get-settings.js';
import { saveSettings } from './save-settings.js';
import { AgentSettingsRecord, SaveAgentSettings, SettingsQuery } from './schema.js';

const common = {
  path: '/api/ai-workspace/settings',
  tag: 'AI workspace',
  scope: 'admin:*',
  query: SettingsQuery,
  response: AgentSettingsRecord,
  errors: [404],
} as const;

export const triageRoutes: Endpoint[] = [
  endpoint({
    ...common,
    id: 'getAgentSettings',
    method: 'get',
    summary: 'Get the settings of the agent',
    description: 'How the agent works for a team, the time of its next overnight triage, and this month’s use.',
    ability: 'agent_settings.read',
    limit: 'ai_settings_get',
    errors: [404],
    handle: ({ ctx, query }) => getSettings(ctx, query.team_id),
  }),
  endpoint({
    ...common,
    id: 'putAgentSettings',
    method: 'put',
    summary: 'Replace the settings of the agent',
    description:
      'A missing field is reset to its default. Both triages only propose: overnight a plan for tasks that are overdue or were not touched for 14 days, and a plan for each failed CI run of a bound repository. The overnight triage uses the permissions of the admin who enabled it.',
    ability: 'agent_settings.write',
    limit: 'ai_settings_put',
    body: SaveAgentSettings,
    errors: [404],
    example: { overnight_triage: { enabled: true, cron: '0 2 * * *', timezone: 'Europe/Berlin' }, ci_triage: { enabled: true } },
    handle: ({ ctx, query, body }) => saveSettings(ctx, query.team_id, body),
  }),
];

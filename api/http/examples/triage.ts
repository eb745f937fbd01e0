import { ADA, TEAM_ID } from './people.js';

/** Example responses of the MCP endpoint and of the agent's settings. */
export const TRIAGE: Record<string, unknown> = {
  AgentSettings: {
    team_id: TEAM_ID,
    overnight_triage: {
      enabled: true,
      cron: '0 2 * * *',
      timezone: 'Europe/Berlin',
      next_run_at: '2026-11-21T01:00:00.000Z',
      enabled_by: ADA,
      disabled_reason: null,
    },
    ci_triage: { enabled: true },
    monthly_message_quota: null,
    external_model: { enabled: false },
    usage: { month: '2026-11-01', messages: 42, input_tokens: 0, output_tokens: 0, cost_micro: 0 },
  },
  McpAnswer: {
    jsonrpc: '2.0',
    id: 1,
    result: { tools: [{ name: 'search', description: 'Finds items of your teams.', inputSchema: { type: 'object' } }] },
  },
};

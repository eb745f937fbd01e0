/** Example responses of the MCP endpoint and of the agent's settings. */
export const TRIAGE: Record<string, unknown> = {
  McpAnswer: {
    jsonrpc: '2.0',
    id: 1,
    result: { tools: [{ name: 'search', description: 'Finds items of your teams.', inputSchema: { type: 'object' } }] },
  },
};

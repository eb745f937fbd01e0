import type { Row } from './row.js';

const VERSION = '2026-07-28';
/** A message of the newest protocol, whose answer is JSON. */
export const message = (method: string, params: object = {}) => ({
  headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': VERSION, 'mcp-method': method },
  body: {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': VERSION,
        'io.modelcontextprotocol/clientInfo': { name: 'matrix', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
});

/** Agents from outside. */
export const mcpCases: Row[] = [
  {
    route: 'GET /api/ai-workspace/settings',
    subject: 'team',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ query: { team_id: s.id } }),
  },
  {
    route: 'PUT /api/ai-workspace/settings',
    subject: 'team',
    kinds: ['own', 'foreign', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ query: { team_id: s.id }, body: { overnight_triage: { enabled: true }, ci_triage: { enabled: true } } }),
  },
  { route: 'POST /api/mcp', subject: 'nothing', kinds: ['own'], send: () => message('tools/list') },
];

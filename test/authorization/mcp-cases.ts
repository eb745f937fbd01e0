import type { Row } from './row.js';

const VERSION = '2026-07-28';
/** A message of the newest protocol, whose answer is JSON. */
const message = (method: string, params: object = {}) => ({
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
  { route: 'POST /api/mcp', subject: 'nothing', kinds: ['own'], send: () => message('tools/list') },
];

import type { Caller } from '../caller.js';

/** Result of a tool, as the protocol has it. */
export interface ToolResult {
  isError?: boolean;
  content?: { text?: string }[];
  structuredContent?: Record<string, unknown>;
}

const VERSION = '2026-07-28';

/** Builds the request that calls a tool over MCP. */
export function buildToolCall(path: string, token: string, name: string, args: object): Parameters<Caller['once']>[0] {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'chaos', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } };
  return { method: 'POST', path, token, headers, body };
}

import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestApp } from '../../../support/app.js';

/** Eras of the protocol: one message a request with a handshake before, and without. */
export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

export interface Agent {
  client: Client;
  /** Calls a tool and returns what the agent reads. */
  call: (name: string, args?: Record<string, unknown>) => Promise<{ isError: boolean; content: Content }>;
  close: () => Promise<void>;
}

// biome-ignore lint: a test reads whatever came back
type Content = any; // oxlint-disable-line typescript/no-explicit-any

const readResult = (result: CallToolResult): { isError: boolean; content: Content } => {
  const [first] = result.content;
  const text = first?.type === 'text' ? first.text : '';
  const content: Content = result.structuredContent;
  if (content !== undefined && JSON.stringify(content) !== text) throw new Error('text and structured content differ');
  return { isError: result.isError === true, content: content ?? text };
};

/** The official client with a token, in one era of the protocol. */
export async function connect(app: TestApp, token: string, era: Era = '2026-07-28'): Promise<Agent> {
  const client = new Client({ name: 'test', version: '1' }, era === '2026-07-28' ? { versionNegotiation: { mode: 'auto' } } : {});
  const transport = new StreamableHTTPClientTransport(new URL('/api/mcp', app.url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return {
    client,
    call: async (name, args = {}) => readResult((await client.callTool({ name, arguments: args })) as CallToolResult),
    close: () => client.close(),
  };
}

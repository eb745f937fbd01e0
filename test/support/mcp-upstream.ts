import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

export interface UpstreamTool {
  name: string;
  description?: string;
  inputSchema: { type: 'object' } & Record<string, unknown>;
  outputSchema?: { type: 'object' } & Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

/** A real MCP server of somebody else, whose tools a test may replace. */
export interface McpUpstream {
  url: string;
  tools: UpstreamTool[];
  calls: { name: string; arguments: unknown; headers: IncomingHttpHeaders }[];
  /** How a call is answered; its arguments as text where nothing was said. */
  answer: (how: (given: unknown, headers: IncomingHttpHeaders) => Promise<object> | object) => void;
  close: () => void;
}

export const ECHO: UpstreamTool = {
  name: 'echo',
  description: 'Returns what it gets',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

/** `stateless`: it speaks only versions of the protocol without `initialize`. */
export async function startUpstream(tools: UpstreamTool[] = [ECHO], { stateless = false } = {}): Promise<McpUpstream> {
  const state = { tools, calls: [] as McpUpstream['calls'] };
  let how = (given: unknown): Promise<object> | object => ({ content: [{ type: 'text', text: JSON.stringify(given) }] });
  let current: IncomingHttpHeaders = {};
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'upstream', version: '1' }, { capabilities: { tools: {} } });
      const headers = current;
      server.setRequestHandler('tools/list', () => ({ tools: state.tools as never }));
      server.setRequestHandler('tools/call', async ({ params }) => {
        state.calls.push({ name: params.name, arguments: params.arguments, headers });
        return (await Promise.resolve(
          (how as (given: unknown, headers: IncomingHttpHeaders) => object)(params.arguments, headers),
        )) as never;
      });
      return server;
    },
    stateless ? { legacy: 'reject' } : {},
  );
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      current = request.headers;
      const headers = new Headers(
        Object.entries(request.headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')]),
      );
      const sent = new Request('http://upstream.test/mcp', {
        method: request.method ?? 'POST',
        headers,
        ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
      });
      void handler.fetch(sent).then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return Object.assign(state, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    answer(next: typeof how) {
      how = next;
    },
    close() {
      http.closeAllConnections();
      http.close();
    },
  }) as McpUpstream;
}

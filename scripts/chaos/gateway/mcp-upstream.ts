import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, type McpRequestContext, Server } from '@modelcontextprotocol/server';

interface UpstreamTool {
  name: string;
  description?: string;
  inputSchema: { type: 'object' } & Record<string, unknown>;
  outputSchema?: { type: 'object' } & Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

/** The HTTP request that brought a call. */
interface Exchange {
  headers: IncomingHttpHeaders;
  /** Closes the connection: the caller gets no answer. */
  cutOff: () => void;
}

/** Answers a call of a tool with its result. What it throws becomes an error of the protocol. */
type Answering = (given: unknown, headers: IncomingHttpHeaders, call: { name: string } & Exchange) => Promise<object> | object;

/** An MCP server of the protocol's own library over Streamable HTTP on a free port, whose tools and answers may be replaced. */
export interface McpUpstream {
  url: string;
  tools: UpstreamTool[];
  calls: { name: string; arguments: unknown; headers: IncomingHttpHeaders }[];
  /** How the next calls are answered; with their arguments as text where nothing was said. */
  answer: (how: Answering) => void;
  close: () => void;
}

export const ECHO: UpstreamTool = {
  name: 'echo',
  description: 'Returns what it gets',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};

/** Starts an MCP server behind which nothing is. `stateless`: it speaks only versions of the protocol without `initialize`. */
export async function startUpstream(tools: UpstreamTool[] = [ECHO], { stateless = false } = {}): Promise<McpUpstream> {
  const state = { tools, calls: [] as McpUpstream['calls'] };
  let how: Answering = (given) => ({ content: [{ type: 'text', text: JSON.stringify(given) }] });
  const build = ({ authInfo }: McpRequestContext) => {
    const server = new Server({ name: 'upstream', version: '1' }, { capabilities: { tools: {} } });
    const exchange = authInfo?.extra as unknown as Exchange;
    server.setRequestHandler('tools/list', () => ({ tools: state.tools as never }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const { headers } = exchange;
      state.calls.push({ name: params.name, arguments: params.arguments, headers });
      return (await how(params.arguments, headers, { name: params.name, ...exchange })) as never;
    });
    return server;
  };
  const handler = createMcpHandler(build, stateless ? { legacy: 'reject' } : {});
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = new Headers(
        Object.entries(request.headers).map(([name, value]): [string, string] => [name, [value].flat().join(', ')]),
      );
      const sent = new Request('http://upstream.test/mcp', {
        method: request.method ?? 'POST',
        headers,
        ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
      });
      const exchange: Exchange = { headers: request.headers, cutOff: () => void request.socket.destroy() };
      const authInfo = { token: '', clientId: '', scopes: [], extra: { ...exchange } };
      void handler.fetch(sent, { authInfo }).then(async (answer) => {
        const body = Buffer.from(await answer.arrayBuffer());
        if (request.socket.destroyed) return;
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(body);
      });
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return Object.assign(state, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    answer(next: Answering) {
      how = next;
    },
    close() {
      http.closeAllConnections();
      http.close();
    },
  });
}

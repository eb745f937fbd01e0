import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

/** A tool that returns what it gets. */
export const TOOL = {
  name: 'echo',
  description: 'Returns what it gets',
  inputSchema: { type: 'object' as const, properties: { text: { type: 'string' } } },
};

/** A server outside Assent, in a separate process. It speaks MCP at /mcp, and answers `ok` elsewhere. */
export interface OtherServer {
  port: number;
  /** Unix time in ms of the last request for an operation: a call of the tool, or any request outside /mcp. */
  arrivedAt: () => number;
  close: () => void;
}

/** Message of the process to the one that started it. */
type Message = { port: number } | { at: number };

/** Starts the server. */
export async function startOtherServer(): Promise<OtherServer> {
  const child = fork(fileURLToPath(import.meta.url));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let last = 0;
  child.on('message', (message: Message) => {
    if ('at' in message) last = message.at;
  });
  return { port, arrivedAt: () => last, close: () => child.kill() };
}

const send = (message: Message) => process.send?.(message);
const noteArrival = () => send({ at: performance.timeOrigin + performance.now() });

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const buildHandler = () =>
  createMcpHandler(() => {
    const server = new Server({ name: 'other', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [TOOL] }));
    server.setRequestHandler('tools/call', ({ params }) => {
      noteArrival();
      return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }] };
    });
    return server;
  });

async function serve(): Promise<void> {
  const handler = buildHandler();
  const http = createServer((request, response) => {
    const { url = '', method = 'GET' } = request;
    void readBody(request).then(async (body) => {
      if (url !== '/mcp') {
        noteArrival();
        response.end('ok');
        return;
      }
      const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const sent = { method, headers, ...(method === 'POST' && { body: new Uint8Array(body) }) };
      const answer = await handler.fetch(new Request('http://other.test/mcp', sent));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  send({ port: (http.address() as AddressInfo).port });
  // The one that started it has ended.
  process.on('disconnect', () => process.exit(0));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve();

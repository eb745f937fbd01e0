import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

type Answering = (request: Received, response: ServerResponse) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** How the next requests are answered; 200 and `ok` where nothing was said. */
  answer: (how: Answering) => void;
  close: () => void;
}

/** A real HTTP server on a free port, for whatever sends requests. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const ok: Answering = (_request, response) => response.end('ok');
  let how = ok;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const arrived = { method, url, headers, body: Buffer.concat(chunks).toString() };
      received.push(arrived);
      how(arrived, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(next) {
      how = next;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

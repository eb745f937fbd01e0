import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Results of one round of load. */
export interface Load {
  count: number;
  /** Responses with an unexpected status. */
  errors: number;
  seconds: number;
  /** Milliseconds from the first byte sent to the last byte read, per response. */
  latencies: number[];
}

/** Source of the requests of a round. */
export interface Source {
  /** Bytes of a connection's next request. */
  next: (connection: number) => Buffer;
  /** Expected status. */
  expect: number | readonly number[];
  /** Called for each response, in the order of the connection's requests. */
  answered?: (connection: number, ok: boolean) => void;
}

interface Answer {
  status: number;
  /** Length of head and body. */
  length: number;
}

/** Parses the head of a response; null until it is complete. Supports the subset of HTTP/1.1 with Content-Length. */
function readAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer without Content-Length:\n${head}`);
  const total = headEnd + 4 + Number(length);
  return bytes.length < total ? null : { status: Number(head.slice(9, 12)), length: total };
}

/** Sends requests on one keep-alive connection, each after the previous response, until `until`. */
async function converse(socket: Socket, connection: number, source: Source, until: number, load: Load): Promise<void> {
  let pending: Buffer = Buffer.alloc(0);
  let sentAt = 0;
  const send = () => {
    sentAt = performance.now();
    socket.write(source.next(connection));
  };
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('The server closed the connection')));
    socket.on('data', (chunk: Buffer) => {
      try {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const answer = readAnswer(pending);
        if (!answer) return;
        const now = performance.now();
        pending = pending.subarray(answer.length);
        const ok = [source.expect].flat().includes(answer.status);
        load.latencies.push(now - sentAt);
        load.count += 1;
        if (!ok) load.errors += 1;
        source.answered?.(connection, ok);
        if (now < until) send();
        else resolve();
      } catch (error) {
        reject(error as Error);
      }
    });
    send();
  });
  socket.removeAllListeners('close');
  socket.destroy();
}

/**
 * Closed loop: `connections` clients with one request in flight each, for `seconds`. Plain sockets and prepared bytes, because the
 * generator shares the machine's cores with the measured processes.
 */
export async function drive(port: number, connections: number, seconds: number, source: Source): Promise<Load> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  const load: Load = { count: 0, errors: 0, seconds: 0, latencies: [] };
  const started = performance.now();
  const until = started + seconds * 1_000;
  await Promise.all(sockets.map((socket, i) => converse(socket, i, source, until, load)));
  load.seconds = (performance.now() - started) / 1_000;
  return load;
}

/** The bytes of a request. */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: Buffer = Buffer.alloc(0),
): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === 'GET' ? '' : `Content-Length: ${body.length}\r\n`;
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: bench\r\n${lines.join('')}${length}\r\n`), body]);
}

import { Agent, request } from 'node:http';
import type { World } from './seed.js';

/** One request at a time on one connection: the cost of a large response alone. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export interface Answered {
  status: number;
  ms: number;
  bytes: number;
  etag: string | undefined;
}

/** Sends one request and reads the whole answer. @throws Error when the connection breaks */
export function send(
  port: number,
  path: string,
  headers: Record<string, string>,
  body?: string | Buffer,
  over = agent,
): Promise<Answered> {
  const started = performance.now();
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: over }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, ms: performance.now() - started, bytes, etag: answer.headers.etag }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The caller's credential, as a header. */
export const bearer = ({ token }: World) => ({ Authorization: `Bearer ${token}` });

/** Like `send`, but requires this status. */
export async function expect(status: number, answer: Promise<Answered>): Promise<Answered> {
  const answered = await answer;
  if (answered.status !== status) throw new Error(`Answered ${answered.status} instead of ${status}`);
  return answered;
}

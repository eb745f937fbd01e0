import { once } from 'node:events';
import { createConnection } from 'node:net';

/** An answer as it came over the wire. */
export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The JSON of the body; undefined without one. */
  body: Record<string, unknown> | undefined;
  /** Whether `100 Continue` came first. */
  continued: boolean;
  /** Bytes after the answer: a second answer to one request would be a fault. */
  rest: string;
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

function parse(received: string): WireAnswer {
  const continued = received.startsWith(CONTINUE);
  const text = continued ? received.slice(CONTINUE.length) : received;
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`no answer: ${JSON.stringify(text)}`);
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const after = Buffer.from(text.slice(end + 4));
  const length = Number(headers['content-length'] ?? after.length);
  const body = after.subarray(0, length).toString();
  return {
    status: Number(first.split(' ')[1]),
    headers,
    continued,
    text: body,
    body: body === '' ? undefined : (JSON.parse(body) as Record<string, unknown>),
    rest: after.subarray(length).toString(),
  };
}

/**
 * Writes bytes to a socket as they are and reads until the server hangs up, or 300 ms after the last byte of an answer.
 * `end` closes our side after writing.
 */
export async function overTheWire(url: string, bytes: string | Buffer, { end = false } = {}): Promise<WireAnswer> {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (end) socket.end(bytes);
  else socket.write(bytes);
  const isAnswered = () => Buffer.concat(chunks).toString().replace(CONTINUE, '').includes('\r\n\r\n');
  const wait = () => socket.setTimeout(isAnswered() ? 300 : 30_000);
  wait();
  socket.on('data', wait);
  await Promise.race([once(socket, 'end'), once(socket, 'timeout'), once(socket, 'close')]);
  socket.destroy();
  return parse(Buffer.concat(chunks).toString());
}

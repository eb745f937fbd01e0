import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buildForm, FORM_TYPE, type Part } from './world.js';

/** An upload whose bytes a test sends as it likes. */
export interface ManualUpload {
  socket: Socket;
  /** Everything received so far. */
  received: () => string;
  /** Resolves to the status of the response. */
  status: () => Promise<number>;
  /** Sends the rest of the form. */
  finish: () => void;
}

interface Options {
  url: string;
  token: string;
  fields: Record<string, string>;
  content: Buffer;
  /** Bytes of the form that are sent at once; below 0 they count from its end. */
  sent: number;
  /** Parts behind the file. */
  after?: Part[];
}

/** Begins an upload on a connection of its own. */
export async function beginUpload({ url, token, fields, content, sent, after = [] }: Options): Promise<ManualUpload> {
  const parts = Object.entries(fields).map(([name, value]) => ({ name, content: value }));
  const form = buildForm([...parts, { name: 'file', filename: 'slow.bin', content }, ...after]);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const received = () => Buffer.concat(chunks).toString();
  const head = [
    'POST /api/files HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${token}`,
    `Content-Type: ${FORM_TYPE}`,
    `Content-Length: ${form.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(form.subarray(0, sent));
  return {
    socket,
    received,
    async status() {
      while (received() === '') await once(socket, 'data');
      return Number(received().slice(9, 12));
    },
    finish: () => socket.write(form.subarray(sent)),
  };
}

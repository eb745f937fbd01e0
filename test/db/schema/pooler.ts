import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Parameters that PgBouncer knows; others it refuses, or drops those that `ignore_startup_parameters` lists. */
const KNOWN = ['user', 'database', 'application_name', 'client_encoding', 'datestyle', 'timezone'];

/** Splits the first message of a connection: length and version, then names and values, each ended by a zero byte. */
function readStartup(message: Buffer): [string, string][] {
  const texts = message.subarray(8, message.readInt32BE(0)).toString().split('\0');
  return texts.flatMap((name, at) => (at % 2 === 0 && name !== '' ? [[name, texts[at + 1] ?? ''] as [string, string]] : []));
}

function writeStartup(version: Buffer, parameters: readonly [string, string][]): Buffer {
  const body = Buffer.concat([version, Buffer.from(`${parameters.flat().join('\0')}\0\0`)]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}

/** The error that PgBouncer sends. */
function refuse(client: Socket, name: string): void {
  const fields = Buffer.from(`SFATAL\0C08P01\0Munsupported startup parameter: ${name}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  client.end(Buffer.concat([head, fields]));
}

/** A server that treats the start of a connection as PgBouncer does, and then relays it. */
export async function startPooler(url: string, refuses: boolean): Promise<{ url: string; close: () => void }> {
  const target = new URL(url);
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.once('data', (message: Buffer) => {
      const given = readStartup(message);
      const [unknown] = given.find(([name]) => !KNOWN.includes(name.toLowerCase())) ?? [];
      if (refuses && unknown !== undefined) {
        refuse(client, unknown);
        return;
      }
      const upstream = connect(Number(target.port), target.hostname);
      upstream.on('error', () => client.destroy());
      upstream.write(
        writeStartup(
          message.subarray(4, 8),
          given.filter(([name]) => KNOWN.includes(name.toLowerCase())),
        ),
      );
      client.pipe(upstream).pipe(client);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pooled = new URL(url);
  pooled.port = String((server.address() as AddressInfo).port);
  return { url: pooled.href, close: () => server.close() };
}

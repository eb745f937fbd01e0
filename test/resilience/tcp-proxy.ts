import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';

export interface TcpProxy {
  port: number;
  /** Refuses connections and breaks those that are open, as a server that was killed. */
  cut: () => Promise<void>;
  /** Lets connections through again, on the same port. */
  restore: () => Promise<void>;
  /** Accepts and carries nothing, in either direction: a network that swallows everything. */
  swallow: (yes: boolean) => void;
  close: () => Promise<void>;
}

/** A TCP proxy on a port of its own in front of `host:port`; it starts cut when `open` is false. */
export async function startTcpProxy(host: string, port: number, open = true): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let swallowing = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    client.setNoDelay(true);
    const upstream = connect({ host, port, noDelay: true });
    keep(upstream);
    const carry = (from: Socket, to: Socket): void => {
      from.on('data', (chunk) => {
        if (!swallowing) to.write(chunk);
      });
      from.on('close', () => to.destroy());
    };
    carry(client, upstream);
    carry(upstream, client);
  });
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  // Not any port: an outgoing connection could take that one while the proxy is cut.
  await listen(await anyFreePort());
  const own = (server.address() as AddressInfo).port;
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  if (!open) await cut();
  return {
    port: own,
    cut,
    restore: () => listen(own),
    swallow(yes) {
      swallowing = yes;
    },
    close: cut,
  };
}

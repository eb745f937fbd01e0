import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** An address without the port and the brackets that some proxies write; undefined for what is none. */
function addressIn(entry: string): string | undefined {
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
  return isIP(address) === 0 ? undefined : address;
}

/**
 * The caller's address: the socket's own, or, behind `hops` trusted proxies, the entry of X-Forwarded-For that the outermost
 * of them wrote. Whatever a client puts further left is not believed, and what is no address counts as the proxy's own.
 */
export function clientIp(request: Pick<IncomingMessage, 'headers' | 'socket'>, hops: number): string | null {
  const socket = request.socket.remoteAddress ?? null;
  if (hops === 0) return socket;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  return addressIn(forwarded.at(-hops) ?? forwarded[0] ?? '') ?? socket;
}

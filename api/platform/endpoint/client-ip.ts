import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Strips the port and brackets that some proxies add; undefined if not an address. */
function addressIn(entry: string): string | undefined {
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Returns the client address: the socket's, or, behind `hops` trusted proxies, the X-Forwarded-For entry written by the outermost
 * one. Entries further left come from the client and are not trusted; an invalid entry counts as the proxy's address
 * (docs/decisions/platform.md#client-addresses).
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

import type { IncomingMessage } from 'node:http';

/**
 * The caller's address: the socket's own, or, behind `hops` trusted proxies, the entry of X-Forwarded-For that the outermost
 * of them wrote. Whatever a client puts further left is not believed.
 */
export function clientIp(request: IncomingMessage, hops: number): string | null {
  const socket = request.socket.remoteAddress ?? null;
  if (hops === 0) return socket;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  return forwarded.at(-hops) ?? forwarded[0] ?? socket;
}

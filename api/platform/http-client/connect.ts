import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { OutboundFailure } from './failure.js';
import { type Destination, isReachable, type OutboundPolicy } from './policy.js';
import type { Address } from './resolve.js';

/**
 * Resolves a host name; rejects it when one of its addresses is not allowed.
 * @throws OutboundFailure without the resolver's message, which names the host
 */
async function reachableAddresses(policy: OutboundPolicy, destination: Destination): Promise<[Address, ...Address[]]> {
  const [first, ...more] = await policy.resolve(destination.host).catch(() => []);
  if (!first) {
    throw policy.hidesUnknownHosts
      ? new OutboundFailure('url_blocked')
      : new OutboundFailure('connection_failed', 'host not found');
  }
  if (![first, ...more].every(({ address }) => isReachable(policy, destination, address)))
    throw new OutboundFailure('url_blocked');
  return [first, ...more];
}

/** Returns validated addresses only, and the connection uses exactly these (DNS rebinding). */
const guardedLookup = (policy: OutboundPolicy, port: number): LookupFunction => {
  const look = callbackify((host: string) => reachableAddresses(policy, { host, port }));
  return (host, options, done) =>
    look(host, (error, addresses) => {
      if (error) done(error, '', 0);
      else if (options.all) done(null, addresses);
      else done(null, addresses[0].address, addresses[0].family);
    });
};

/** Opens connections for undici, all to one port. A literal address is checked first, because it never reaches the lookup. */
export function guardedConnector(policy: OutboundPolicy, port: number, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, maxCachedSessions: 0, lookup: guardedLookup(policy, port) });
  return (options, done) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    if (ipaddr.isValid(host) && !isReachable(policy, { host, port }, host)) return done(new OutboundFailure('url_blocked'), null);
    return connect(options, done);
  };
}

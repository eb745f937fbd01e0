import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { OutboundFailure } from './failure.js';
import { isReachable, type OutboundPolicy } from './policy.js';

/**
 * A look-up that asks for every address of a name, refuses the name when one of them is not reachable, and hands on those it has
 * judged: they are the ones that are dialled, so a name that answers otherwise the next time gains nothing.
 */
const guardedLookup =
  (policy: OutboundPolicy): LookupFunction =>
  (host, options, done) => {
    policy.resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || !addresses.every(({ address }) => isReachable(policy, address))) {
          const refused = first ? new OutboundFailure('url_blocked') : new OutboundFailure('connection_failed');
          return done(refused, '', 0);
        }
        if (options.all) done(null, addresses);
        else done(null, first.address, first.family);
      },
      // The resolver's words name the host, which may be a secret's.
      () => done(new OutboundFailure('connection_failed', 'the host has no address'), '', 0),
    );
  };

/** Opens connections for undici. A literal address never comes to a look-up, so it is judged before. */
export function guardedConnector(policy: OutboundPolicy, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, maxCachedSessions: 0, lookup: guardedLookup(policy) });
  return (options, done) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    if (ipaddr.isValid(host) && !isReachable(policy, host)) return done(new OutboundFailure('url_blocked'), null);
    return connect(options, done);
  };
}

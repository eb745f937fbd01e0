import ipaddr from 'ipaddr.js';
import type { Config } from '../config.js';
import { isHostAllowed, normalizeHostPattern } from './host-patterns.js';
import { type Resolve, resolveBySystem, resolvePublicName } from './resolve.js';

/** Allowed destinations of outbound requests. */
export interface OutboundPolicy {
  /** For development and tests: allows this machine, at any port. */
  allowLoopback: boolean;
  ports: readonly number[];
  /** For addresses set by the operator: allows every address and port. */
  isTrusted?: true;
  /** Requires https, except for hosts that `exceptions` opens to this machine. */
  httpsOnly?: true;
  /**
   * Hosts that the operator opened, with or without a port: neither port nor address range is checked. They are compared with the host as
   * written, then with each resolved address. `thisMachine`: they may be this machine, and plain http.
   */
  exceptions?: { hosts: readonly string[]; thisMachine: boolean };
  /** Refuses a name without addresses in the words for a private one: the difference would describe the installation's network. */
  hidesUnknownHosts?: true;
  /** Resolves all addresses of a host name. */
  resolve: Resolve;
}

/** Policy for addresses written by users. */
export const outboundPolicy = ({ OUTBOUND_LOOPBACK, OUTBOUND_PORTS }: Config): OutboundPolicy => ({
  allowLoopback: OUTBOUND_LOOPBACK === 'allow',
  ports: OUTBOUND_PORTS,
  resolve: OUTBOUND_LOOPBACK === 'allow' ? resolveBySystem : (host) => resolvePublicName(host),
});

/** Policy for addresses set by the operator; never for an address, or a part of its host, from anybody else. */
export const TRUSTED: OutboundPolicy = { allowLoopback: true, ports: [], isTrusted: true, resolve: resolveBySystem };

/** Globally routed part of IPv6; ranges unknown to ipaddr.js lie outside. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');
/** Public by number, but internal to a cloud: services of the host. */
const INSIDE = ['168.63.129.16'];

/** Returns whether an address is on the public internet, under any notation: not this machine and not its private network. */
export function isAllowedAddress(
  { allowLoopback, isTrusted }: Pick<OutboundPolicy, 'allowLoopback' | 'isTrusted'>,
  address: string,
): boolean {
  if (isTrusted) return true;
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const ip = ipaddr.process(address); // unwraps IPv4-mapped IPv6 addresses
  const range = ip.range();
  if (range === 'loopback') return allowLoopback;
  if (range !== 'unicast' || INSIDE.includes(ip.toString())) return false;
  return ip.kind() === 'ipv4' || (ip as ipaddr.IPv6).match(GLOBAL_V6);
}

/** Where a request goes: a host, and the port after its scheme was applied. */
export interface Destination {
  host: string;
  port: number;
}

/** Returns whether an exception names this host, or this address under its canonical notation. */
export function isException({ exceptions }: OutboundPolicy, host: string, port: number): boolean {
  if (exceptions === undefined || exceptions.hosts.length === 0) return false;
  const hostname = normalizeHostPattern(ipaddr.isValid(host) ? ipaddr.process(host).toString() : host);
  return hostname !== null && isHostAllowed(exceptions.hosts, { hostname, port: String(port), protocol: '' });
}

const isThisMachine = (address: string): boolean =>
  !ipaddr.isValid(address) || ['loopback', 'unspecified'].includes(ipaddr.process(address).range());

/** Returns whether a request to `destination` may connect to `address`, one of those that its host resolves to. */
export function isReachable(policy: OutboundPolicy, { host, port }: Destination, address: string): boolean {
  if (isException(policy, host, port) || isException(policy, address, port)) {
    return policy.exceptions?.thisMachine === true || !isThisMachine(address);
  }
  return (policy.isTrusted || policy.allowLoopback || policy.ports.includes(port)) && isAllowedAddress(policy, address);
}

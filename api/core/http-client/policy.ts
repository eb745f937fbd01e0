import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config.js';

export interface Address {
  address: string;
  family: number;
}

/** Where a request that people write may go. */
export interface OutboundPolicy {
  /** The one exception, for development and tests: this very machine, at any port. */
  allowLoopback: boolean;
  ports: readonly number[];
  /** For addresses that the operator has set: anywhere, at any port. */
  isTrusted?: true;
  /** Every address of a host name. */
  resolve: (host: string) => Promise<Address[]>;
}

const resolve: OutboundPolicy['resolve'] = (host) => lookup(host, { all: true, verbatim: true });

/** What people write. */
export const outboundPolicy = ({ OUTBOUND_LOOPBACK, OUTBOUND_PORTS }: Config): OutboundPolicy => ({
  allowLoopback: OUTBOUND_LOOPBACK === 'allow',
  ports: OUTBOUND_PORTS,
  resolve,
});

/** What the operator has set: never for an address, or a part of its host, that anybody else wrote. */
export const TRUSTED: OutboundPolicy = { allowLoopback: true, ports: [], isTrusted: true, resolve };

/** The part of IPv6 that is given out for the open net; what ipaddr.js has no name for lies elsewhere. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');
/** Public by its number, and yet the inside of a cloud: the host's own services. */
const INSIDE = ['168.63.129.16'];

/** True for an address on the open net: not this machine, not the network it stands in, nothing that leads there by another name. */
export function isAllowedAddress(
  { allowLoopback, isTrusted }: Pick<OutboundPolicy, 'allowLoopback' | 'isTrusted'>,
  address: string,
): boolean {
  if (isTrusted) return true;
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const ip = ipaddr.process(address); // an IPv4 address in IPv6 clothes is judged as what it is
  const range = ip.range();
  if (range === 'loopback') return allowLoopback;
  if (range !== 'unicast' || INSIDE.includes(ip.toString())) return false;
  return ip.kind() === 'ipv4' || (ip as ipaddr.IPv6).match(GLOBAL_V6);
}

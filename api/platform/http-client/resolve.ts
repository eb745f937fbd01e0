import { lookup, Resolver } from 'node:dns/promises';

export interface Address {
  address: string;
  family: number;
}

/** Resolves all addresses of a host name. */
export type Resolve = (host: string) => Promise<Address[]>;

/** Resolves as the system does, its own file of hosts included: for names that the operator wrote. Occupies a thread of four. */
export const resolveBySystem: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/** Time for one question, and for all of a look-up, ms. */
const QUESTION_MS = 2_000;
const LOOKUP_MS = 5_000;

/**
 * Resolves a public name by asking the name servers, for names that users wrote. The threads for file access and passwords take no part:
 * the owner of a domain decides how long its name servers take, and four such questions would stop every other look-up of the process.
 * @param servers name servers instead of those of the system
 */
export async function resolvePublicName(host: string, ms = LOOKUP_MS, servers?: readonly string[]): Promise<Address[]> {
  const resolver = new Resolver({ timeout: Math.min(QUESTION_MS, ms), tries: 2 });
  if (servers) resolver.setServers(servers);
  const ended = setTimeout(() => resolver.cancel(), ms);
  const name = host.replace(/\.$/, '');
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  clearTimeout(ended);
  const found = (answer: PromiseSettledResult<string[]>, family: number): Address[] =>
    answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
  return [...found(v4, 4), ...found(v6, 6)];
}

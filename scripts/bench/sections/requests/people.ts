import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { computeHash, PAT_PREFIX } from '../../../../api/identity/auth/authenticate.js';
import { call } from '../../client.js';
import type { Goal } from '../../report.js';
import type { World } from '../../seed.js';
import type { Servers, Service } from '../../servers.js';
import { quantile } from '../../statistics.js';

/** Times of each kind of work that do not count: the code is not compiled yet. */
export const WARM_UP = 30;

/** A person of the benchmark’s team with a token. */
export type Caller = World;
/** What a request that was asked for is decided by. */
export interface Asked {
  request_id: string;
  request_hash: string;
}

/** A goal that a measured value must not exceed. */
export const below = (what: string, value: number, goal: number, unit = ' ms'): Goal => ({
  what,
  value,
  goal,
  better: 'less',
  unit,
});

/** A person of the team with a token, who acts as the benchmark's user does. */
export async function hire({ db }: Servers, world: World, role: string, scopes: string[]): Promise<Caller> {
  const [userId, token] = [uuidv7(), `${PAT_PREFIX}${randomBytes(32).toString('base64url')}`];
  const name = `b${randomBytes(5).toString('hex')}`;
  const avatar = 'https://bench.test/a.png';
  await db('users').insert({ user_id: userId, email: `${name}@bench.test`, name, username: name, display_name: name, avatar });
  await db('memberships').insert({ team_id: world.teamId, user_id: userId, role });
  const hash = computeHash(token);
  await db('personal_access_tokens').insert({ user_id: userId, name, scopes, token_hash: hash, prefix: token.slice(0, 12) });
  return { ...world, userId, token };
}
/** One person who asks, and one who decides. */
export const hireBoth = async (servers: Servers, world: World): Promise<[Caller, Caller]> => [
  await hire(servers, world, 'member', ['requests:create', 'requests:read']),
  await hire(servers, world, 'manager', ['approvals:decide', 'requests:read']),
];

/** Asks for the yes to a deployment that nothing else has asked about. */
export async function ask(api: Service, asker: Caller): Promise<Asked> {
  const operation = {
    system: 'payments',
    name: 'deploy',
    target: randomUUID(),
    arguments: { version: '4.2', hosts: ['a', 'b'] },
  };
  const body = { team_id: asker.teamId, title: 'Release 4.2', reason: 'The fix of the sign-in', operation };
  return (await call(api, asker, 'POST', '/api/change-requests', body)).body as unknown as Asked;
}
/** Decides about a request or uses it, by the hash that was read. */
export const about = (api: Service, caller: Caller, { request_id, request_hash }: Asked, verb: string, body: object = {}) =>
  call(api, caller, 'POST', `/api/change-requests/${request_id}/${verb}`, { request_hash, ...body });

/** Times of each kind of work, ms, each beside what it is compared with. */
export class Times {
  private readonly of = new Map<string, number[]>();

  /** `warmUp`: times of each kind that do not count. */
  constructor(private readonly warmUp = WARM_UP) {}

  add(name: string, ms: number): void {
    const known = this.of.get(name);
    if (known) known.push(ms);
    else this.of.set(name, [ms]);
  }

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    const result = await work();
    this.add(name, performance.now() - from);
    return result;
  }

  get(name: string, q: number): number {
    return quantile((this.of.get(name) ?? []).slice(this.warmUp), q);
  }

  /** One line for each kind, in order of its first time. */
  describe(): string[] {
    const ms = (name: string, q: number) => `p${q * 100} ${this.get(name, q).toFixed(3)} ms`;
    return [...this.of.keys()].map((name) => `${name}: ${ms(name, 0.5)}  ${ms(name, 0.95)}  ${ms(name, 0.99)}`);
  }
}

import type { Caller } from './caller.js';
import type { Ledger } from './ledger.js';
import type { Random } from './random.js';
import type { World } from './world.js';

/** What each user of the load works with. */
export interface Desk {
  caller: Caller;
  world: World;
  ledger: Ledger;
  surprises: string[];
  random: Random;
  secret: string;
  /** False as soon as the load is to end: every wait ends. */
  goesOn: () => boolean;
}

/** Notes a response that no rule explains. */
export const surprise = ({ surprises }: Desk, what: string, answer: { status: number; body: unknown }): void => {
  surprises.push(`${what} answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 200)}`);
};

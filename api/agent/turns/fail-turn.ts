import type { TurnEnd, TurnView } from '../../../workflows/contract.js';
import { inTransaction, type Services, serviceContext } from '../../core/context.js';
import { FAILURE_WORDS } from './answer-words.js';
import { claimTurn, type TurnExecution } from './claim-turn.js';
import { announceTurn, endTurn } from './end-turn.js';

/** Ends a turn without an answer: its message says why, in our words. */
export async function failTurn(services: Services, owner: TurnExecution, code: Exclude<TurnEnd, 'done'>): Promise<TurnView> {
  const done = await inTransaction(serviceContext(services, 'agent'), async ({ db }) => {
    const turn = await claimTurn(db, owner);
    return turn && { turn, ended: await endTurn(db, turn, owner, { content: FAILURE_WORDS[code], code }) };
  });
  return done ? announceTurn(services, done.turn, done.ended) : { state: 'superseded' };
}

import type { TurnView } from '../../../workflows/contract.js';
import { inTransaction, type Services, serviceContext } from '../../core/context.js';
import { claimTurn, type TurnExecution } from './claim-turn.js';

/** Claims a turn for a model. `waiting`: an earlier message of the session has no answer yet. */
export async function beginTurn(services: Services, owner: TurnExecution): Promise<TurnView> {
  const turn = await inTransaction(serviceContext(services, 'agent'), ({ db }) => claimTurn(db, owner));
  return { state: turn?.state ?? 'superseded' };
}

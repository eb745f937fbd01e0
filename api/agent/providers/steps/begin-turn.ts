import type { Knex } from 'knex';
import type { TurnView } from '../../../../workflows/contracts/turn-contract.js';
import type { Services } from '../../../platform/context.js';
import { readLinks } from '../../sessions/read-links.js';
import { type ClaimedTurn, claimTurn, takeSlot, type TurnExecution } from '../../turns/claim-turn.js';
import { isModelAllowed } from '../../turns/choose-provider.js';
import { announceTurn, endTurn, type EndedTurn } from '../../turns/end-turn.js';
import { endText } from './end-texts.js';

/** Answer to a message of a session without items: a model would know nothing to talk about. */
const NOTHING_LINKED = 'Link a task, a project or a note to this conversation first. I read only what you link.';

type Begun = { as: 'superseded' | 'waiting' | 'running' | 'rules' } | { as: 'ended'; turn: ClaimedTurn; ended: EndedTurn };

async function begin({ config }: Services, db: Knex, owner: TurnExecution): Promise<Begun> {
  const turn = await claimTurn(db, owner);
  if (!turn) return { as: 'superseded' };
  if (turn.state === 'waiting') return { as: 'waiting' };
  const { readable } = await readLinks({ db }, turn.session_id, turn.user_id);
  if (readable.length === 0) return { as: 'ended', turn, ended: await endTurn(db, turn, owner, { content: NOTHING_LINKED }) };
  const teamIds = readable.map(({ team_id }) => team_id);
  const isAsked = config.AI_PROVIDER !== 'rules' && turn.is_active && (await isModelAllowed(db, teamIds));
  if (isAsked) return { as: (await takeSlot(db, turn, config.AI_TURNS_PER_TEAM)) ? 'running' : 'waiting' };
  if (turn.step === null) return { as: 'rules' };
  const code = 'model_not_allowed';
  return { as: 'ended', turn, ended: await endTurn(db, turn, owner, { content: endText(code, null), code }) };
}

/**
 * Claims a turn for a model. Without a linked item it answers with a hint; if the team of one item has not allowed a model, `byRules`
 * answers; the step of a run gets an error instead, because it would have asked the rules itself. It waits while models answer as many
 * messages of the team as may be answered at once.
 */
export async function beginTurn(
  services: Services,
  owner: TurnExecution,
  byRules: (services: Services, owner: TurnExecution) => Promise<TurnView>,
): Promise<TurnView> {
  const begun = await services.db.transaction((db) => begin(services, db, owner));
  if (begun.as === 'ended') return announceTurn(services, begun.turn, begun.ended);
  return begun.as === 'rules' ? byRules(services, owner) : { state: begun.as };
}

import type { Knex } from 'knex';
import type { TurnView } from '../../../../workflows/contract.js';
import { run, type Statement } from '../../../../db/statement.js';
import type { Services } from '../../../core/context.js';
import { readLinks } from '../../sessions/read-links.js';
import { type ClaimedTurn, claimTurn, takePlace, type TurnExecution } from '../../turns/claim-turn.js';
import { announceTurn, endTurn, type EndedTurn } from '../../turns/end-turn.js';

/** Answer to a message of a session without items: a model would know nothing to talk about. */
const NOTHING_LINKED = 'Link a task, a project or a note to this conversation first. I read only what you link.';

type Begun = { as: 'superseded' | 'waiting' | 'running' | 'rules' } | { as: 'ended'; turn: ClaimedTurn; ended: EndedTurn };

/** $1 = team ids. */
const allowedStatement: Statement = {
  name: 'model_allowed_in_teams',
  text: 'select count(*)::int as teams from agent_settings where team_id = any($1::uuid[]) and external_model',
};

/** Returns whether every team of the linked items allows a model outside this installation. */
async function isModelAllowed(db: Knex, teamIds: readonly string[]): Promise<boolean> {
  const teams = [...new Set(teamIds)];
  const [allowed] = await run<{ teams: number }>(db, allowedStatement, [teams]);
  return allowed?.teams === teams.length;
}

async function begin({ config }: Services, db: Knex, owner: TurnExecution): Promise<Begun> {
  const turn = await claimTurn(db, owner);
  if (!turn) return { as: 'superseded' };
  if (turn.state === 'waiting') return { as: 'waiting' };
  const { readable } = await readLinks({ db }, turn.session_id, turn.user_id);
  if (readable.length === 0) return { as: 'ended', turn, ended: await endTurn(db, turn, owner, { content: NOTHING_LINKED }) };
  const teamIds = readable.map(({ team_id }) => team_id);
  const isAsked = config.AI_PROVIDER !== 'rules' && turn.is_active && (await isModelAllowed(db, teamIds));
  if (!isAsked) return { as: 'rules' };
  return { as: (await takePlace(db, turn, config.AI_TURNS_PER_TEAM)) ? 'running' : 'waiting' };
}

/**
 * Claims a turn for a model. Without a linked item it answers with a hint; if the team of one item has not allowed a model, `byRules`
 * answers. It waits while models answer as many messages of the team as may be answered at once.
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

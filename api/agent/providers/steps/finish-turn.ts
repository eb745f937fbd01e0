import type { Knex } from 'knex';
import { run } from '../../../../db/statement.js';
import type { TurnEnd, TurnView } from '../../../../workflows/contracts/turn-contract.js';
import type { Services } from '../../../platform/context.js';
import { DomainError } from '../../../platform/errors.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';
import type { Staged } from '../../plans/proposal.js';
import { stagePlan } from '../../plans/stage-plan.js';
import { readLinks } from '../../sessions/read-links.js';
import { lostWords } from '../../turns/answer-words.js';
import { type ClaimedTurn, claimTurn, type TurnExecution } from '../../turns/claim-turn.js';
import { announceTurn, type Answer, type EndedTurn, endTurn } from '../../turns/end-turn.js';
import { toRefusal } from './describe-refusal.js';
import { endText, omittedText } from './end-texts.js';
import { buildProposal } from './build-proposal.js';
import { collectHandles } from './read-answer.js';
import { readSteps, stagingContext } from './read-turn.js';
import { listProposals, type StepContent } from './step-content.js';
import { readWaitStatement } from './turn-state.sql.js';

/** Maximum length of an answer, characters. */
const MAX_ANSWER = 8_000;
const NOTHING_SAID = 'The model said nothing.';
const NO_CHANGE = 'Nothing would change.';

type Finish = { turn: ClaimedTurn; ended: EndedTurn };

/** Stages the proposals in a savepoint, so that a refusal leaves the answer to be written. */
async function stage(
  services: Services,
  db: Knex,
  turn: ClaimedTurn,
  steps: StepContent[],
): Promise<Staged | { refused: string } | undefined> {
  const actions = listProposals(steps, collectHandles(steps));
  if (actions.length === 0) return undefined;
  try {
    return await db.transaction((inner) => stagePlan(stagingContext(services, inner, turn), buildProposal(turn, actions)));
  } catch (error) {
    if (!(error instanceof DomainError) || error.status >= 500) throw error;
    return { refused: toRefusal(error) };
  }
}

/** Returns the answer that the stored steps come to. */
async function toAnswer(services: Services, db: Knex, turn: ClaimedTurn): Promise<Answer> {
  const steps = await readSteps(db, turn.message_id);
  const staged = await stage(services, db, turn, steps);
  const words = withVisibleNames(steps.at(-1)?.text ?? '').trim();
  const leftOut = steps.reduce((sum, step) => sum + step.leftOut, 0);
  const isRefused = staged !== undefined && 'refused' in staged;
  const plan = staged && !isRefused ? staged.plan : null;
  const parts = [
    words || plan?.summary,
    isRefused && `I could not propose this: ${staged.refused}`,
    staged && !isRefused && !plan && NO_CHANGE,
    omittedText(staged && !isRefused ? staged : { omitted: [] }, leftOut),
    lostWords((await readLinks({ db }, turn.session_id, turn.user_id)).lost.length),
  ];
  const content = parts.filter(Boolean).join('\n\n').slice(0, MAX_ANSWER).toWellFormed() || NOTHING_SAID;
  return { content, plan: plan ? { action_id: plan.action_id, changes: plan.actions.length } : null };
}

async function toFailure(db: Knex, { message_id }: ClaimedTurn, code: Exclude<TurnEnd, 'done'>): Promise<Answer> {
  const [wait] = await run<{ retry_after_s: number | null }>(db, readWaitStatement, [message_id]);
  return { content: endText(code, wait?.retry_after_s ?? null), code };
}

async function finish(services: Services, db: Knex, owner: TurnExecution, end: TurnEnd): Promise<Finish | undefined> {
  const turn = await claimTurn(db, owner);
  if (!turn) return undefined;
  // Nobody waits for the plan of a run that was cancelled.
  const isWanted = turn.step === null || (turn.step.is_open && turn.is_active);
  const code = end === 'done' && !isWanted ? 'cancelled' : end;
  const answer = code === 'done' ? await toAnswer(services, db, turn) : await toFailure(db, turn, code);
  return { turn, ended: await endTurn(db, turn, owner, answer) };
}

/**
 * Ends a turn of a model in one transaction: the answer, and the plan with its audit entry and its event. Every end leaves an answer.
 * May be repeated: only the first call finds the turn open.
 */
export async function finishTurn(services: Services, owner: TurnExecution, end: TurnEnd): Promise<TurnView> {
  const finished = await services.db.transaction((db) => finish(services, db, owner, end));
  return finished ? announceTurn(services, finished.turn, finished.ended) : { state: 'superseded' };
}

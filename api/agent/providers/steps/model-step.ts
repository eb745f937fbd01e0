import { DomainError } from '../../../platform/errors.js';
import type { Services } from '../../../platform/context.js';
import { dryRun } from '../../../platform/database/dry-run.js';
import { countModelError } from '../../../platform/telemetry/model-metrics.js';
import { run } from '../../../../db/statement.js';
import type { ModelStepResult } from '../../../../workflows/contracts/turn-contract.js';
import { stagePlan } from '../../plans/stage-plan.js';
import type { TurnExecution } from '../../turns/claim-turn.js';
import { callModel, type ModelAnswer, type ModelRequest, requestBytes } from '../call-model.js';
import { ModelFailure } from '../model-failure.js';
import { buildData } from '../prompt/build-data.js';
import { buildPrompt } from '../prompt/build-prompt.js';
import { newNonce } from '../prompt/fence.js';
import type { Handles } from '../prompt/handles.js';
import { PROPOSAL_TOOLS } from '../tools/proposal-tools.js';
import { READ_TOOLS } from '../tools/read-tools.js';
import { toRefusal } from './describe-refusal.js';
import { collectHandles, readAnswer } from './read-answer.js';
import { buildProposal } from './build-proposal.js';
import { readTurn, stagingContext, type TurnReading } from './read-turn.js';
import { fitted, listProposals, type StepContent } from './step-content.js';
import { StepFailure, toStepFailure } from './step-failure.js';
import { keepWaitStatement, storeStepStatement } from './turn-state.sql.js';
import { type Reservation, reserve, settle } from './usage.js';

/** A call of the model that is prepared: what it sends, and the handles that its prompt names. */
interface ModelCall {
  request: ModelRequest;
  handles: Handles;
}

/** Longest wait that an answer names, seconds. */
const MAX_WAIT_S = 86_400;

const SUPERSEDED: ModelStepResult = { said: 'superseded', inputTokens: 0, outputTokens: 0 };

const toResult = ({ said, inputTokens, outputTokens }: StepContent): ModelStepResult => ({ said, inputTokens, outputTokens });

/** Returns today in a time zone, such as `2026-11-22 (Sunday)`. */
function todayIn(timeZone: string): string {
  const now = new Date();
  const part = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-CA', { timeZone, ...options }).format(now);
  return `${part({ year: 'numeric', month: '2-digit', day: '2-digit' })} (${part({ weekday: 'long' })})`;
}

/** Builds the request; `share` is the part of the context that the linked items may use. */
function prepare({ config }: Services, reading: TurnReading, share: number): ModelCall {
  const { turn, steps, history, world } = reading;
  const handles = collectHandles(steps);
  const data = buildData(world, handles, turn.user_id, config.AI_CONTEXT_TOKENS * 3 * share);
  const today = todayIn(turn.timezone);
  const prompt = buildPrompt({ nonce: newNonce(), today, data, history, message: turn.content, steps });
  return { request: { prompt, tools: [...READ_TOOLS, ...PROPOSAL_TOOLS] }, handles };
}

/**
 * Checks that a model may read what is linked now, and that a run still waits for the answer that its step asked for. An item that has left
 * the team of an automation is out of its reach.
 * @throws StepFailure model_not_allowed | cancelled
 */
function checkConsent({ config }: Services, { turn, world: { items } }: TurnReading): void {
  const { step, is_active } = turn;
  if (step && !step.is_open) throw new StepFailure('cancelled');
  const isOutside = (team: string) => step?.team_id != null && step.team_id !== team;
  const isRefused = items.some(({ is_external_allowed, team_id }) => !is_external_allowed || isOutside(team_id));
  if (config.AI_PROVIDER === 'rules' || !is_active || isRefused) throw new StepFailure('model_not_allowed');
}

/** Asks the model once, with its tokens reserved. @throws StepFailure the budget | ModelFailure */
async function ask(
  services: Services,
  owner: TurnExecution,
  { request }: ModelCall,
  signal: AbortSignal,
): Promise<{ answer: ModelAnswer; reserved: Reservation }> {
  const { db, config } = services;
  const inputTokens = Math.ceil(requestBytes(request) / 3);
  const reserved = await reserve(services, owner, { inputTokens, outputTokens: config.AI_MAX_OUTPUT_TOKENS });
  try {
    return { answer: await callModel(config, request, signal), reserved };
  } catch (error) {
    const isCharged = !(error instanceof ModelFailure) || error.isCharged;
    await settle(db, config, reserved, { inputTokens: isCharged ? inputTokens : 0, outputTokens: 0 });
    if (error instanceof ModelFailure) countModelError(error.code);
    throw error;
  }
}

/** Asks the model; once more with half of the context if the prompt was too long. @throws StepFailure | the reason of `signal` */
async function askWithin(services: Services, owner: TurnExecution, reading: TurnReading, signal: AbortSignal) {
  const whole = prepare(services, reading, 1);
  try {
    return { ...(await ask(services, owner, whole, signal)), handles: whole.handles };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    if (error.code !== 'model_too_long') throw toStepFailure(error);
  }
  const half = prepare(services, reading, 0.5);
  try {
    return { ...(await ask(services, owner, half, signal)), handles: half.handles };
  } catch (error) {
    throw error instanceof ModelFailure ? toStepFailure(error) : error;
  }
}

/** Keeps the wait of a busy provider, which the answer names if no attempt is left. @throws `error` */
async function keepWait({ db }: Services, { messageId }: TurnExecution, error: unknown): Promise<never> {
  if (error instanceof StepFailure && error.waitMs !== null)
    await run(db, keepWaitStatement, [messageId, Math.min(Math.ceil(error.waitMs / 1_000), MAX_WAIT_S)]);
  throw error;
}

/** Plays the plan through, and gives the model one chance to correct it. Nothing is written. */
async function withTrial(services: Services, reading: TurnReading, content: StepContent, handles: Handles): Promise<StepContent> {
  const { turn, steps } = reading;
  const actions = listProposals([...steps, content], handles);
  const isRepaired = [...steps, content].some(({ isRepair }) => isRepair);
  if (content.said === 'more' || actions.length === 0 || isRepaired) return content;
  try {
    await dryRun(services.db, async (db) => {
      await stagePlan(stagingContext(services, db, turn), buildProposal(turn, actions));
    });
    return content;
  } catch (error) {
    // The end of the turn stages the plan again; asking the model again would cost a call.
    if (!(error instanceof DomainError) || error.status >= 500) return content;
    return { ...content, said: 'more', refusal: toRefusal(error), isVoid: true, isRepair: true };
  }
}

/** Stores a step and settles its cost in one transaction. Another attempt may have stored the step: then that one counts. */
function store(
  { db, config }: Services,
  owner: TurnExecution,
  step: number,
  content: StepContent,
  reserved: Reservation,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const { messageId, incarnation, execution } = owner;
    const values = [messageId, incarnation, execution, step, JSON.stringify(content)];
    const rows = await run(trx, storeStepStatement, values);
    await settle(trx, config, reserved, content);
    return rows.length > 0;
  });
}

/**
 * Performs one step of a turn: asks the model, carries out what it wants to read, and stores what it said. No transaction is open during
 * the call. A step that is stored is returned as it is, so a retried activity costs a call only if the first one was not stored.
 * @throws StepFailure with the code of the turn's end | the reason of `signal`
 */
export async function modelStep(
  services: Services,
  owner: TurnExecution,
  step: number,
  signal: AbortSignal,
): Promise<ModelStepResult> {
  const reading = await readTurn(services, owner);
  if (!reading) return SUPERSEDED;
  const stored = reading.steps[step];
  if (stored) return toResult(stored);
  checkConsent(services, reading);
  const { answer, reserved, handles } = await askWithin(services, owner, reading, signal).catch((error: unknown) =>
    keepWait(services, owner, error),
  );
  const read = fitted(await readAnswer(services, reading, handles, answer));
  const content = await withTrial(services, reading, read, handles);
  if (await store(services, owner, step, content, reserved)) return toResult(content);
  const again = await readTurn(services, owner);
  const first = again?.steps[step];
  return first ? toResult(first) : SUPERSEDED;
}

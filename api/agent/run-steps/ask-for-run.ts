import { run } from '../../../db/statement.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../platform/context.js';
import { newId } from '../../platform/ids.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { chooseProvider } from '../turns/choose-provider.js';
import { countMessage, returnMessage } from '../turns/quota.js';
import { storeMessageStatement } from '../turns/submit-message.sql.js';
import { stepProgressStatement } from './automation-session.sql.js';
import { proposeForRun } from './propose-for-run.js';
import { linkItems, openStepSession, type StepInstruction, getSubject, teamsOfStep } from './step-session.js';

/** What an attempt of a step came to. `open`: the model has not answered yet, and the end of its turn wakes the run. */
export type StepAnswer =
  | { state: 'staged'; action_id: string }
  | { state: 'open' }
  | { state: 'failed'; code: string; waitMs: number | null };

interface Progress extends Record<string, unknown> {
  is_deleted: boolean;
  action_id: string | null;
  turns: number;
  is_open: boolean;
  error_code: string | null;
  retry_after_s: number | null;
}

/** Returns what attempts so far came to; undefined if this attempt has to ask. */
async function readAnswer(ctx: Context, step: StepInstruction, attempt: number): Promise<StepAnswer | undefined> {
  const [progress] = await run<Progress>(ctx.db, stepProgressStatement, [getSubject(step)]);
  if (!progress) return undefined;
  const { is_deleted, action_id, turns, is_open, error_code, retry_after_s } = progress;
  if (action_id !== null) return { state: 'staged', action_id };
  if (is_deleted) return { state: 'failed', code: 'cancelled', waitMs: null };
  if (is_open) return { state: 'open' };
  if (turns < attempt) return undefined;
  return {
    state: 'failed',
    code: error_code ?? 'nothing_proposed',
    waitMs: retry_after_s === null ? null : retry_after_s * 1_000,
  };
}

type ProviderChoice = Awaited<ReturnType<typeof chooseProvider>>;

/** Stores the instruction as a message with its turn, unless an attempt at the same time has. Returns whether it is stored. */
async function openTurn(
  ctx: Context,
  step: StepInstruction,
  attempt: number,
  teamId: string,
  { provider, model }: ProviderChoice,
) {
  const { session_id } = await openStepSession(ctx, step);
  const meanwhile = await readAnswer(ctx, step, attempt);
  if (meanwhile) return { answer: meanwhile, isStored: false };
  await linkItems(ctx, step, { session_id, owner_id: null, team_id: step.team_id });
  const message_id = newId();
  const caller = JSON.stringify(callerJson(ctx));
  const values = [
    message_id,
    session_id,
    requireUser(ctx),
    step.instruction,
    teamId,
    provider,
    model,
    ctx.correlationId,
    null,
    caller,
  ];
  // The session of a step has the name of its automation.
  await run(ctx.db, storeMessageStatement, [...values, null, '']);
  await recordChange(ctx, {
    team_id: step.team_id ?? teamId,
    feature: 'ai_agent',
    action: 'start',
    entity_type: 'agent_session',
    entity_id: session_id,
    details: { message_id, provider },
  });
  return { answer: { state: 'open' } as const, isStored: true };
}

/**
 * Asks the agent for the plan of one step of a run, with the permissions of the automation's creator, who is the context's user. The rules
 * answer at once. A model gets a turn, as for a message of a chat: the same links, consent, quota, budget and time. May be repeated: an
 * attempt has one turn, and a step one plan (docs/decisions/agent.md#steps-of-a-run-that-ask-a-model).
 * @throws QUOTA_EXCEEDED | RESOURCE_CONFLICT `session_deleted` | what `proposeForRun` and `teamsOfStep` throw
 */
export async function askForRun(ctx: Context, step: StepInstruction, attempt: number): Promise<StepAnswer> {
  const known = await readAnswer(ctx, step, attempt);
  if (known) return known;
  const teams = await teamsOfStep(ctx, step);
  const chosen = await chooseProvider(ctx, teams);
  if (chosen.provider === 'rules') return { state: 'staged', action_id: await proposeForRun(ctx, step) };
  const [payer] = teams;
  await countMessage(ctx, payer);
  let isStored = false;
  try {
    const opened = await inTransaction(ctx, (ctx) => openTurn(ctx, step, attempt, payer, chosen));
    ({ isStored } = opened);
    return opened.answer;
  } finally {
    if (!isStored) await returnMessage(ctx, payer).catch(() => undefined);
  }
}

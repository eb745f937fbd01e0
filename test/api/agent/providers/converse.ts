import { randomUUID } from 'node:crypto';
import { beginTurn } from '../../../../api/agent/providers/steps/begin-turn.js';
import { finishTurn } from '../../../../api/agent/providers/steps/finish-turn.js';
import { modelStep } from '../../../../api/agent/providers/steps/model-step.js';
import { StepFailure } from '../../../../api/agent/providers/steps/step-failure.js';
import type { TurnExecution } from '../../../../api/agent/turns/claim-turn.js';
import { TURN_MAX_STEPS, type TurnEnd, type TurnView } from '../../../../workflows/contracts/turn-contract.js';
import type { Person, TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';
import type { ModelServer } from '../../../support/model-server.js';

// A turn of a model without Temporal: the activities in the order of the workflow, so that a test may look between them.

/** The product with a stand-in model. */
export const startWithModel = (
  model: ModelServer,
  provider: 'anthropic' | 'openai_compatible',
  settings: Record<string, string> = {},
): Promise<TestApp> =>
  startApp({ AI_PROVIDER: provider, AI_MODEL: 'stand-in', AI_BASE_URL: model.url, AI_API_KEY: 'canary-key-93b1', ...settings });

/** An admin's consent that a model may read the team's words. */
export const allowModel = (app: TestApp, { team_id }: Pick<TestTeam, 'team_id'>, external_model = true) =>
  app.services.db('agent_settings').insert({ team_id, external_model }).onConflict('team_id').merge();

export interface TestSession {
  session_id: string;
  owner: Person;
}

/** A session of a person with linked items. */
export async function buildSession(app: TestApp, owner: Person, links: [type: string, id: string][]): Promise<TestSession> {
  const { db } = app.services;
  const [session] = await db('agent_sessions')
    .insert({ kind: 'chat', owner_id: owner.user_id, title: 'Talk' })
    .returning<{ session_id: string }[]>('session_id');
  const session_id = session?.session_id as string;
  let at = Date.now();
  for (const [item_type, item_id] of links)
    await db('agent_links').insert({ session_id, item_type, item_id, linked_by: owner.user_id, linked_at: new Date((at += 10)) });
  return { session_id, owner };
}

/** A message that waits for its answer. */
export async function postMessage(
  app: TestApp,
  { session_id, owner }: TestSession,
  content: string,
  team_id: string | null,
): Promise<TurnExecution> {
  const { db, config } = app.services;
  const [message] = await db('agent_messages')
    .insert({ session_id, role: 'user', content })
    .returning<{ message_id: string }[]>('message_id');
  const message_id = message?.message_id as string;
  await db('agent_turns').insert({
    message_id,
    session_id,
    user_id: owner.user_id,
    team_id,
    provider: config.AI_PROVIDER,
    correlation_id: randomUUID(),
  });
  return { messageId: message_id, incarnation: 1, execution: randomUUID() };
}

export const neverStopped = (): AbortSignal => new AbortController().signal;
const byRules = async (): Promise<TurnView> => ({ state: 'answered', code: 'by_rules' });
export const begin = (app: TestApp, turn: TurnExecution): Promise<TurnView> => beginTurn(app.services, turn, byRules);

/** Asks until the model is done; a failure of a step becomes the end of the turn, as in the workflow. */
async function askUntilDone(app: TestApp, turn: TurnExecution): Promise<TurnEnd | 'superseded'> {
  try {
    for (let step = 0; step < TURN_MAX_STEPS; step += 1) {
      const { said } = await modelStep(app.services, turn, step, neverStopped());
      if (said !== 'more') return said;
    }
  } catch (error) {
    if (error instanceof StepFailure) return error.code;
    throw error;
  }
  return 'loop_limit';
}

/** Takes a turn to its end. */
export async function answerTurn(app: TestApp, turn: TurnExecution): Promise<TurnView> {
  const view = await begin(app, turn);
  if (view.state !== 'running') return view;
  const end = await askUntilDone(app, turn);
  return end === 'superseded' ? { state: end } : finishTurn(app.services, turn, end);
}

export interface Answered {
  view: TurnView;
  content: string;
  /** The staged plan. */
  plan: { action_id: string; summary: string; risk: string; actions: PlannedAction[] } | undefined;
  messageId: string;
}
interface PlannedAction {
  tool: string;
  entity_id: string | null;
  title: string;
  params: Record<string, unknown>;
  risk: string;
}

/** Sends a message and returns its answer. */
export async function converse(
  app: TestApp,
  session: TestSession,
  message: string,
  team: Pick<TestTeam, 'team_id'>,
): Promise<Answered> {
  const { db } = app.services;
  const turn = await postMessage(app, session, message, team.team_id);
  const view = await answerTurn(app, turn);
  const answer = await db('agent_messages')
    .where({ answers: turn.messageId })
    .first<{ content: string; action_id: string | null } | undefined>();
  const plan = answer?.action_id
    ? await db('agent_plans').where({ action_id: answer.action_id }).first<{ canonical: string; risk: string }>()
    : undefined;
  const content = plan && (JSON.parse(plan.canonical) as { action_id: string; summary: string; actions: PlannedAction[] });
  return {
    view,
    content: answer?.content ?? '',
    plan: content && { ...content, risk: plan?.risk ?? '' },
    messageId: turn.messageId,
  };
}

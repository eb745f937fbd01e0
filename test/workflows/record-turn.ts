import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { turnWorkflowId } from '../../workflows/contracts/turn-contract.js';
import { allowModel } from '../api/agent/providers/converse.js';
import { buildTask, type TestTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { until } from '../support/worker.js';

// Turns of the agent whose histories are replayed.

/** Just within the 45 seconds of a call: three calls after it take longer than what is left of the turn. */
const SLOW_ANSWER_MS = 40_000;

interface Stage {
  app: TestApp;
  temporal: Client;
  team: TestTeam;
  project: { project_id: string };
  replaceWorker: () => Promise<void>;
}

let model: ModelServer | undefined;

/** Starts the stand-in model and returns the settings of the API and the worker that lead to it. */
export async function openTurnStage(): Promise<Record<string, string>> {
  model = await startModelServer();
  return { AI_PROVIDER: 'openai_compatible', AI_MODEL: 'stand-in', AI_BASE_URL: model.url };
}
/** The first answer of the model cannot be read, the next ones are this. */
export const answerTurns = (said: Parameters<ModelServer['script']>[0]): void =>
  model?.answer((_request, response) => {
    if ((model?.requests.length ?? 0) > 1) return said;
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>no</p>');
    return undefined;
  });
export const closeTurnStage = (): void => model?.close();

interface Talk extends Stage {
  model: ModelServer;
  sessionId: string;
  /** Sends a message, waits until its turn exists, and returns the message's id. */
  say: (message: string) => Promise<string>;
  ended: (messageId: string) => Promise<unknown>;
}

const asked = ({ model: { requests } }: Talk, count = 1) => until(async () => requests.length >= count);
const cancelIn = (temporal: Client, messageId: string) => temporal.workflow.getHandle(turnWorkflowId(messageId)).cancel();

/** Each returns the id of the message whose turn is kept. */
const PLAYS: Record<string, (talk: Talk) => Promise<string>> = {
  async rules({ say, app, team }) {
    await allowModel(app, team, false);
    return say('close Login 500');
  },
  async 'two-steps'({ say, model }) {
    const calls = [{ name: 'task_set_status', input: { task_id: 'T1', status: 'done' } }];
    model.script({ calls: [{ name: 'read_item', input: { item: 'T1' } }] }, { text: 'I propose it', calls });
    return say('Close it');
  },
  async 'tried-again'({ say, model }) {
    model.answer((_request, response) => {
      if (model.requests.length > 1) return { text: 'Now' };
      response.writeHead(429, { 'retry-after': '1' }).end('{}');
      return undefined;
    });
    return say('Hello');
  },
  async refused({ say, model }) {
    model.answer((_request, response) => {
      response.writeHead(401).end('{}');
      return undefined;
    });
    return say('Hello');
  },
  async stopped(talk) {
    talk.model.answer(() => undefined);
    const id = await talk.say('Hello');
    await asked(talk);
    await talk.app.as(talk.team.member).post(`/api/ai-workspace/sessions/${talk.sessionId}/stop`, {});
    return id;
  },
  async waited(talk) {
    const { model, say, ended } = talk;
    model.answer(async ({ messages }) => {
      if (messages.at(-1)?.text.endsWith('first'))
        await until(async () => (await talk.app.services.db('agent_turns').where({ state: 'waiting' })).length > 0);
      return { text: 'Hello' };
    });
    const first = await say('first');
    const second = await say('second');
    await ended(first);
    return second;
  },
  // As long as it takes: the first call answers late, the second one never, and its last attempt is cut off by the time for all of them.
  async 'timed-out'({ say, model }) {
    model.answer(async () => {
      if (model.requests.length > 1) return undefined;
      await sleep(SLOW_ANSWER_MS);
      return { calls: [{ name: 'read_item', input: { item: 'T1' } }] };
    });
    return say('Close it');
  },
  async 'cancelled-by-operator'(talk) {
    talk.model.answer(() => undefined);
    const id = await talk.say('Hello');
    await asked(talk);
    await cancelIn(talk.temporal, id);
    return id;
  },
  async 'worker-killed'(talk) {
    talk.model.answer(() => (talk.model.requests.length > 1 ? { text: 'Hello' } : undefined));
    const id = await talk.say('Hello');
    await asked(talk);
    await talk.replaceWorker();
    return id;
  },
};
export const TURN_PLAYS = Object.keys(PLAYS);

/** Plays a turn to its end and returns the id of its workflow. */
export async function playTurn(stage: Stage, name: string): Promise<string> {
  const { app, team, project } = stage;
  const { db } = app.services;
  await allowModel(app, team);
  const { task_id } = await buildTask(app, team, project, { title: 'Login 500' });
  const client = app.as(team.member);
  const { session_id: sessionId } = (await client.post('/api/ai-workspace/sessions', {})).body as { session_id: string };
  await client.post(`/api/ai-workspace/sessions/${sessionId}/link`, { item_type: 'task', item_id: task_id });
  const answers: Promise<unknown>[] = [];
  const say = async (message: string): Promise<string> => {
    answers.push(client.post('/api/ai-workspace/chat', { session_id: sessionId, message }));
    const where = { session_id: sessionId, content: message, role: 'user' };
    return (await until(() => db('agent_messages').where(where).first<{ message_id: string } | undefined>())).message_id;
  };
  const ended = (message_id: string) =>
    until(() => db('agent_turns').where({ message_id }).whereNotNull('finished_at').first(), 240_000);
  const id = await PLAYS[name]?.({ ...stage, model: model as ModelServer, sessionId, say, ended });
  if (id === undefined) throw new Error(`There is no play ${name}`);
  await ended(id);
  await Promise.all(answers);
  return turnWorkflowId(id);
}

import { type Endpoint, endpoint } from '../../platform/endpoint/endpoint.js';
import { SessionParams } from '../sessions/schema.js';
import { chat, stopAgentSession } from './chat.js';
import { Chat, CHAT_BODY_BYTES, ChatAnswer, MAX_OPEN_TURNS, MAX_OPEN_TURNS_OF_USER, StoppedSession } from './schema.js';

const own = { tag: 'AI workspace', ability: 'agent.session', scope: 'ai:chat' } as const;

export const agentChatRoutes: Endpoint[] = [
  endpoint({
    ...own,
    id: 'chatWithAgent',
    method: 'post',
    path: '/api/ai-workspace/chat',
    summary: 'Send a message to the agent',
    description: `Waits for the answer, at most a minute; a later one is in the session. Changes are staged as a plan and nothing is written before you confirm it. Without a model, a message that names one task by its number (HAR-12) links it to a session without links. Messages of one session are answered in order; with ${MAX_OPEN_TURNS} of them waiting, or ${MAX_OPEN_TURNS_OF_USER} in all your sessions, the next is a 409. A 503 means that nothing was stored.`,
    limit: 'ai_chat',
    bodyLimit: CHAT_BODY_BYTES,
    body: Chat,
    response: ChatAnswer,
    errors: [402, 404, 409],
    example: { session_id: '019a9f00-0000-7000-8000-000000000040', message: 'close this and comment on it: fixed in v2' },
    handle: ({ ctx, body }) => chat(ctx, body),
  }),
  endpoint({
    ...own,
    id: 'stopAgentSession',
    method: 'post',
    path: '/api/ai-workspace/sessions/:session_id/stop',
    summary: 'Stop the answers that are being written',
    description: 'Plans that are staged already stay.',
    limit: 'ai_stop',
    params: SessionParams,
    response: StoppedSession,
    errors: [404],
    handle: ({ ctx, params }) => stopAgentSession(ctx, params.session_id),
  }),
];

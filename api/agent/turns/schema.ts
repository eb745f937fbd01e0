import { z } from 'zod';
import { Id, TrimmedText } from '../../platform/fields.js';
import { ActionPlan } from '../plans/schema.js';

const MAX_MESSAGE_LENGTH = 10_000;
export const CHAT_BODY_BYTES = 262_144;
/** Messages of a session that wait for an answer at the same time. */
export const MAX_OPEN_TURNS = 5;
/** In all sessions of a user, so that one member does not take all slots of the team (docs/decisions/agent.md#model-slots-of-a-team). */
export const MAX_OPEN_TURNS_OF_USER = 10;

export const Chat = z
  .object({
    session_id: Id,
    message: TrimmedText(MAX_MESSAGE_LENGTH),
  })
  .meta({ id: 'Chat' });
export type Chat = z.output<typeof Chat>;

export const ChatAnswer = z
  .object({
    response: z.string(),
    requires_confirmation: z.boolean().meta({ description: 'True if a plan was staged; nothing changes until you confirm it' }),
    action_plan: ActionPlan.optional(),
    message_id: z.string().optional().meta({ description: 'Id of your message, if its answer is still being written' }),
    pending: z.literal(true).optional().meta({ description: 'The answer will be in the session' }),
  })
  .meta({ id: 'ChatAnswer' });
export type ChatAnswer = z.output<typeof ChatAnswer>;

export const StoppedSession = z
  .object({
    success: z.literal(true),
    session_id: z.string(),
    stopped: z.int().meta({ description: 'Messages that get no answer' }),
  })
  .meta({ id: 'StoppedAgentSession' });
export type StoppedSession = z.output<typeof StoppedSession>;

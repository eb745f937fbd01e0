import { z } from 'zod';
import { Id, TaskId, Timestamp, Title } from '../../platform/fields.js';

const SESSION_KINDS = ['chat', 'overnight_triage', 'ci_triage', 'mcp', 'automation'] as const;
export const LINK_TYPES = ['task', 'project', 'whiteboard', 'file', 'note', 'idea'] as const;
export type LinkType = (typeof LINK_TYPES)[number];

/** Live sessions of a person, links of a session, and messages of a person in one. */
export const MAX_SESSIONS = 500;
export const MAX_LINKS = 50;
export const MAX_MESSAGES = 200;

export const DEFAULT_TITLE = 'New session';

export const SessionParams = z.object({ session_id: Id });

export const CreateSession = z
  .object({
    title: Title(200)
      .nullish()
      .meta({ description: `Default: ${DEFAULT_TITLE}` }),
  })
  .meta({ id: 'CreateAgentSession' });
export type CreateSession = z.output<typeof CreateSession>;

export const UpdateSession = z.object({ title: Title(200) }).meta({ id: 'UpdateAgentSession' });
export type UpdateSession = z.output<typeof UpdateSession>;

export const LinkItem = z.object({ item_type: z.enum(LINK_TYPES), item_id: TaskId }).meta({ id: 'LinkAgentItem' });
export type LinkItem = z.output<typeof LinkItem>;

export const LinkParams = z.object({ session_id: Id, item_type: z.enum(LINK_TYPES), item_id: TaskId });
export type LinkParams = z.output<typeof LinkParams>;

export const NewSession = z
  .object({ session_id: z.string(), title: z.string(), created_at: Timestamp })
  .meta({ id: 'NewAgentSession' });
export type NewSession = z.output<typeof NewSession>;

const summary = {
  session_id: z.string(),
  title: z.string(),
  kind: z.enum(SESSION_KINDS),
  created_at: Timestamp,
  updated_at: Timestamp,
  message_count: z.int(),
  pending_action_id: z.string().nullable().meta({ description: 'The newest plan that waits for a decision' }),
};

/** A session in a list. */
export const SessionSummary = z.object(summary).meta({ id: 'AgentSessionSummary' });
export type SessionSummary = z.output<typeof SessionSummary>;

export const Message = z
  .object({
    message_id: z.string(),
    role: z.enum(['user', 'assistant', 'system']),
    content: z.string(),
    action_id: z.string().nullable().meta({ description: 'The plan that this answer staged' }),
    created_at: Timestamp,
  })
  .meta({ id: 'AgentMessage' });
export type Message = z.output<typeof Message>;

const LinkedItem = z
  .object({ item_type: z.enum(LINK_TYPES), item_id: z.string(), title: z.string(), linked_at: Timestamp })
  .meta({ id: 'AgentLinkedItem' });

export const Session = z
  .object({
    ...summary,
    messages: z.array(Message).meta({ description: 'Oldest first' }),
    linked_items: z.array(LinkedItem).meta({ description: 'What you may read and write now, in the order of linking' }),
  })
  .meta({ id: 'AgentSession' });
export type Session = z.output<typeof Session>;

export const Linked = z
  .object({
    session_id: z.string(),
    item_type: z.enum(LINK_TYPES),
    item_id: z.string(),
    title: z.string(),
    linked: z.literal(true),
    linked_at: Timestamp,
  })
  .meta({ id: 'AgentLink' });
export type Linked = z.output<typeof Linked>;

export const Unlinked = z
  .object({ success: z.literal(true), session_id: z.string(), item_type: z.enum(LINK_TYPES), item_id: z.string() })
  .meta({ id: 'RemovedAgentLink' });
export type Unlinked = z.output<typeof Unlinked>;

export const DeletedSession = z.object({ success: z.literal(true), session_id: z.string() }).meta({ id: 'DeletedAgentSession' });
export type DeletedSession = z.output<typeof DeletedSession>;

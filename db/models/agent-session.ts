import { BaseModel } from './base.js';

/** A conversation with the agent, of a person or a team. */
export class AgentSession extends BaseModel {
  static override readonly tableName = 'agent_sessions';
  static override readonly idColumn = 'session_id';

  declare session_id: string;
  declare kind: 'chat' | 'overnight_triage' | 'ci_triage' | 'mcp' | 'automation';
  declare owner_id: string | null;
  declare team_id: string | null;
  declare title: string;
  declare created_at: Date;
  declare updated_at: Date;
  declare deleted_at: Date | null;
}

/** An item that the agent may read in a session, as long as its owner may. */
export class AgentLink extends BaseModel {
  static override readonly tableName = 'agent_links';
  static override readonly idColumn = ['session_id', 'item_type', 'item_id'];

  declare session_id: string;
  declare item_type: 'task' | 'project' | 'whiteboard' | 'file' | 'note' | 'idea';
  declare item_id: string;
  declare linked_by: string;
  declare linked_at: Date;
}

/** A message of a session. `answers`: the message that it answers. */
export class AgentMessage extends BaseModel {
  static override readonly tableName = 'agent_messages';
  static override readonly idColumn = 'message_id';

  declare message_id: string;
  declare position: number;
  declare session_id: string;
  declare role: 'user' | 'assistant' | 'system';
  declare content: string;
  declare action_id: string | null;
  declare answers: string | null;
  /** Items that an answer names, in the order of its text. */
  declare mentions: { item_id: string; title: string }[] | null;
  declare created_at: Date;
}

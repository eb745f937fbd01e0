import type { Scope } from './scopes.js';

/** Roles in the installation: `admin` administers it, but no team of others. */
export const INSTANCE_ROLES = ['user', 'admin'] as const;
export type InstanceRole = (typeof INSTANCE_ROLES)[number];

interface Person {
  userId: string;
  email: string;
  /** Instance role: `admin` administers the installation but gets no role in teams. */
  role: InstanceRole;
}

/** A user signed in with a password; `impersonatorId` is the impersonating administrator. */
export interface UserActor extends Person {
  type: 'user';
  sessionId: string;
  impersonatorId: string | null;
  /** When the token of this request expires, ms since 1970; absent if the session was opened by this request. */
  tokenExpiresAt?: number;
}

/** A script with a personal access token; acts as the token's owner. */
interface PatActor extends Person {
  type: 'pat';
  tokenId: string;
  scopes: Scope[];
  /** Every route requires its scope of this token, not only those that require it of every token. */
  strict: boolean;
  /** An outside agent's token: it works at the MCP endpoint only. */
  mcpOnly: boolean;
}

/**
 * An action of a run: acts as the automation's creator, with the creator's current permissions
 * (docs/decisions/automation.md#acting-as-the-creator).
 */
interface AutomationActor extends Person {
  type: 'automation';
  automationId: string;
  runId: string;
  /** Number of automations in the causal chain; passed on in the events of this actor, because the chain is limited. */
  depth: number;
}

/**
 * The agent while it works on a message, for the person who wrote it: it may read what that person may read, and propose. No operation
 * that writes accepts it (`checkCallerKind`).
 */
interface ProposerActor extends Person {
  type: 'proposer';
}

/** The AI agent: applies one action of a plan for the user who confirmed it, with that user's current permissions. */
export interface AgentActor extends Person {
  type: 'agent';
  /** Id of the plan. */
  actionId: string;
  /** As text: `sha256:` and 64 hexadecimal digits. */
  planHash: string;
  /** Index of the action in the plan. */
  index: number;
  /** How the user confirmed: signed in, or with a token. */
  by: 'user' | 'pat';
  /** Depth of the automations that caused the plan, so that automations and plans cannot start each other forever. */
  depth: number;
  /** Users behind the plan, besides the one who confirmed it. */
  causeUserIds: readonly string[];
}

/** Issue sync: the service acts for the user who bound the repository, with that user's current permissions. */
interface SyncActor extends Person {
  type: 'sync';
  /** Users who caused the delivery, as far as known. */
  causeUserIds: readonly string[];
}

/** A recurring series: acts as the series' creator, with their current permissions. */
interface SeriesActor extends Person {
  type: 'series';
  /** Depth of the change that completed the last occurrence, so that automations completing recurring tasks cannot loop forever. */
  depth: number;
  /**
   * Users who set the rule, moved or completed the last occurrence, and the users behind them; at a gate without self-approval they cannot
   * approve what the series starts.
   */
  causeUserIds: readonly string[];
}

/** A job started by an administrator and continued by a workflow: the service acts on their behalf. */
interface JobActor extends Person {
  type: 'job';
}

/** The service itself: schedules, cleanup, operator commands. Has no role in any team. */
interface SystemActor {
  type: 'system';
  name: string;
  /** Users who caused the work, as far as known; they cannot approve it at a gate without self-approval. */
  causeUserIds?: readonly string[];
  /** The runner whose token the request carries. */
  runner?: RunnerIdentity;
}

/** A registered runner, as its token identifies it. */
export interface RunnerIdentity {
  runner_id: string;
  team_id: string;
  name: string;
  labels: string[];
}

/** Actor of a request without credentials. */
export const ANONYMOUS: SystemActor = { type: 'system', name: 'anonymous' };

export type Actor =
  | UserActor
  | PatActor
  | AutomationActor
  | ProposerActor
  | AgentActor
  | SyncActor
  | SeriesActor
  | JobActor
  | SystemActor;

import type { Scope } from './scopes.js';

interface Person {
  userId: string;
  email: string;
  /** Instance role: `admin` administers the installation, no team of others. */
  role: 'user' | 'admin';
}

/** Signed in with a password; `impersonatorId` is the instance admin who acts as this person (A12). */
export interface UserActor extends Person {
  type: 'user';
  sessionId: string;
  impersonatorId: string | null;
}

/** A script with a personal access token: acts as the token's owner (contract, section 5). */
interface PatActor extends Person {
  type: 'pat';
  tokenId: string;
  scopes: Scope[];
  /** Every route asks it for its scope, not only the seven that ask every token. */
  strict: boolean;
}

/** A run's action: acts as the automation's original creator, with the creator's rights at this moment (F7). */
interface AutomationActor extends Person {
  type: 'automation';
  automationId: string;
  runId: string;
  /** How many automations deep; the events of this actor carry it on (F11). */
  depth: number;
}

/** The AI agent applying a plan for the person who confirmed it (E4). */
interface AgentActor extends Person {
  type: 'agent';
  actionId: string;
}

/** Issue sync: the service writing on behalf of whoever bound the repository, with that person's rights at this moment (F2). */
interface SyncActor extends Person {
  type: 'sync';
  /** Users who caused the delivery, as far as they are known. */
  causeUserIds: readonly string[];
}

/** A recurring series making its next occurrence: acts as the series' creator, with their rights at this moment (C7). */
interface SeriesActor extends Person {
  type: 'series';
  /** As deep as what set the last occurrence done: automations that complete what recurs must not go on for ever (F11). */
  depth: number;
  /** Users who moved the series last, and the people behind them: what it starts is their own. */
  causeUserIds: readonly string[];
}

/** What an administrator set off and a workflow carries on: the service writing on their behalf (A11). */
interface JobActor extends Person {
  type: 'job';
}

/** The service itself: schedules, clean-up, the operator's commands. Has no seat anywhere. */
interface SystemActor {
  type: 'system';
  name: string;
  /** Users behind what the service does, as far as they are known: at a gate without self-approval it is their own. */
  causeUserIds?: readonly string[];
}

export type Actor = UserActor | PatActor | AutomationActor | AgentActor | SyncActor | SeriesActor | JobActor | SystemActor;

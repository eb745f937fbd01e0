import type { Statement } from '../../../db/statement.js';
import type { RunStep } from '../../../workflows/contracts/run-contract.js';
import type { Services } from '../context.js';

/** An outbox event as `decide` reads it; times are ISO 8601 or parsable by `Date`. */
export interface OutboxEvent {
  outbox_id: number;
  /** Event type. */
  subject: string;
  event_id: string;
  team_id: string | null;
  /** Before the numbers of the team's tasks: HAR. */
  team_key: string | null;
  /** What an event about a task does not hold: names of its stages by id, and values of its custom fields by key; null for any other event. */
  names: { stages: Readonly<Record<string, string>>; custom_fields: Readonly<Record<string, unknown>> } | null;
  project_id: string | null;
  payload: Readonly<Record<string, unknown>>;
  correlation_id: string;
  /** Automation depth of its cause. */
  depth: number;
  /** Ids of the users behind its cause, besides its actor. */
  cause_user_ids: string[];
  created_at: string;
  now: string;
  project: object | null;
  actor: object | null;
}

/** A run to start, with the input of its workflow and the fields that operators see; `outbox_id` is its outbox row. */
export interface RunStart {
  outbox_id: number;
  payload: { run_id: string; incarnation: number };
  correlation_id: string;
  run_id: string;
  automation_id: string;
  automation_name: string;
  team_id: string | null;
  project_id: string | null;
  creator_id: string;
  trigger_type: string;
  depth: number;
  is_test: boolean;
  triggered_by: string | null;
  retry_of: string | null;
  entity_id: string | null;
  /** Event that started it. */
  event_id?: string | undefined;
  steps: RunStep[];
}

/** Result of `enqueue`: runs to start at once, and work after the commit. */
export interface Enqueued {
  starts?: RunStart[];
  afterCommit?: (services: Services) => Promise<unknown>;
}

/**
 * One kind of subscriber. It maintains its row in `event_subscriptions` for each team or user with a subscriber; without one, no
 * event is written.
 */
export interface SubscriberKind<Definition extends object, Match extends object> {
  name: string;
  /** SQL: `subscriber_id` (uuid) and `version` of each subscriber to the outbox event o. Must not read the payload. */
  audience: string;
  /**
   * $1 = subscriber ids, $2 = versions. One row each: `subscriber_id`, `version`, and the input of `compile`. Versions are
   * immutable.
   */
  definitions: Statement;
  /** Compiles a row of `definitions` once; `bytes` is its approximate memory. Must not throw. */
  compile: (row: Record<string, unknown>) => { definition: Definition; bytes: number };
  /** Pure: returns the match of event and subscriber, or undefined. */
  decide: (event: OutboxEvent, definition: Definition) => Match | undefined;
  /** Returns the approximate bytes that `enqueue` writes for the match. */
  countBytes: (match: Match) => number;
  /**
   * Inserts rows in the transaction that removes the pairs (`services.db`). `leaseSeconds`: lease for the caller to dispatch the
   * starts.
   */
  enqueue: (services: Services, matches: readonly Match[], leaseSeconds: number | null) => Promise<Enqueued>;
}

/** A kind of unknown types. */
export type AnySubscriberKind = SubscriberKind<object, object>;

/** Erases the types of a kind; the pipeline passes each kind only its own values. */
export const subscriberKind = <Definition extends object, Match extends object>(
  kind: SubscriberKind<Definition, Match>,
): AnySubscriberKind => kind as unknown as AnySubscriberKind;

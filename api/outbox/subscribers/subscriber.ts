import type { Statement } from '../../../db/statement.js';
import type { RunStart } from '../../runs/dispatch/create-run.js';
import type { Services } from '../../core/context.js';

/** An event of the outbox, as `decide` reads it; times are ISO 8601 or what `Date` parses. */
export interface OutboxEvent {
  outbox_id: number;
  /** The event type. */
  subject: string;
  event_id: string;
  team_id: string | null;
  project_id: string | null;
  payload: Readonly<Record<string, unknown>>;
  correlation_id: string;
  /** How many runs deep its cause is. */
  depth: number;
  /** User ids of the people behind its cause, besides its actor. */
  cause_user_ids: string[];
  created_at: string;
  now: string;
  project: object | null;
  actor: object | null;
}

/** What a kind has written: runs to start at once, and what else follows the commit. */
export interface Enqueued {
  starts?: RunStart[];
  afterCommit?: (services: Services) => Promise<unknown>;
}

/**
 * One kind of subscriber. It keeps a row of its name in `event_subscriptions` for each team, or person, with a subscriber: without one
 * no event is written.
 */
export interface SubscriberKind<Definition extends object, Match extends object> {
  name: string;
  /** SQL: `subscriber_id` (uuid) and `version` of each subscriber to the event o of the outbox. Reads no payload. */
  audience: string;
  /** $1 = subscriber ids, $2 = their versions. A row each: `subscriber_id`, `version`, and what `compile` takes. A version never changes. */
  definitions: Statement;
  /** Prepares a row of `definitions` once; `bytes` is about what it takes of memory. Must not throw. */
  compile: (row: Record<string, unknown>) => { definition: Definition; bytes: number };
  /** Pure: what the event makes of the subscriber, undefined when nothing. */
  decide: (event: OutboxEvent, definition: Definition) => Match | undefined;
  /** About how many bytes `enqueue` writes for the match. */
  bytesOf: (match: Match) => number;
  /** Writes rows in the transaction that removes the pairs (`services.db`). `leaseSeconds`: what it starts is the caller's for so long. */
  enqueue: (services: Services, matches: readonly Match[], leaseSeconds: number | null) => Promise<Enqueued>;
}

/** A kind whose types only it knows. */
export type AnySubscriberKind = SubscriberKind<object, object>;

/** Forgets the types of a kind; the pipeline hands each only what it made itself. */
export const subscriberKind = <Definition extends object, Match extends object>(
  kind: SubscriberKind<Definition, Match>,
): AnySubscriberKind => kind as unknown as AnySubscriberKind;

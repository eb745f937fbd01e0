import type { EventType } from './event-types.js';

/**
 * SQL expression: whether a team, or a user's own events, have a subscriber to an event type. For hot statements, which notify
 * the relay only then; `enqueue_events` uses the same rows to decide whether to write an event.
 */
export const hasSubscriber = (type: EventType, teamId: string, actorId: string): string => /* sql */ `exists (
  select from event_subscriptions s where s.owner_id in (${teamId}, ${actorId}) and '${type}' = any(s.event_types))`;

import type { EventType } from './event-types.js';

/**
 * Whether anybody subscribes to an event type of a team, or of what a person does, as an SQL expression. For hot statements, which notify
 * the relay only then; `enqueue_events` decides by the same rows whether there is an event at all.
 */
export const hasSubscriber = (type: EventType, teamId: string, actorId: string): string => /* sql */ `exists (
  select from event_subscriptions s where s.owner_id in (${teamId}, ${actorId}) and '${type}' = any(s.event_types))`;

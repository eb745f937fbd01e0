import { triggersOfEvent } from '../../automations/language/triggers.js';
import { buildEvent, type ChangeEvent, type DeliveredEvent } from './body.js';
import { isWanted, type WebhookEvent } from './names.js';

/** Every name of a change, and the events built so far: endpoints of a team share them. */
interface Built {
  names: string[];
  events: Map<string, DeliveredEvent>;
}

const builtByChange = new WeakMap<ChangeEvent, Built>();

function builtOf(change: ChangeEvent): Built {
  let built = builtByChange.get(change);
  if (!built) {
    built = { names: triggersOfEvent(change.subject, change.payload), events: new Map() };
    builtByChange.set(change, built);
  }
  return built;
}

/** Returns the events that a change amounts to for these patterns; each is an event of its own with its own stable id. */
export function eventsOfChange(change: ChangeEvent, patterns: ReadonlySet<string>): DeliveredEvent[] {
  const { names, events } = builtOf(change);
  return names
    .filter((name) => isWanted(patterns, name))
    .map((name) => {
      const event = events.get(name) ?? buildEvent(change, name as WebhookEvent);
      events.set(name, event);
      return event;
    });
}

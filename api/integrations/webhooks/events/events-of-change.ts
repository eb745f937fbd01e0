import { NAME_OF_PAGE, triggersOfEvent } from '../../../platform/events/event-types.js';
import { buildEvent, type ChangeEvent, type DeliveredEvent } from './body.js';
import { derivedId } from './event-id.js';
import { isWanted, type WebhookEvent } from './names.js';

/** Every name of a change, and the events built so far: endpoints of a team share them. */
interface Built {
  names: string[];
  events: Map<string, DeliveredEvent[]>;
}

const builtByChange = new WeakMap<ChangeEvent, Built>();

function listNames(change: ChangeEvent): string[] {
  const name = NAME_OF_PAGE.get(change.subject);
  return name ? [name] : triggersOfEvent(change.subject, change.payload);
}

function buildBodies(change: ChangeEvent): Built {
  let built = builtByChange.get(change);
  if (!built) {
    built = { names: listNames(change), events: new Map() };
    builtByChange.set(change, built);
  }
  return built;
}

/** Builds the events of a change under one name: one, or one for each task of a page, with an id made of those of page and task. */
function eventsUnder(change: ChangeEvent, name: WebhookEvent): DeliveredEvent[] {
  if (!NAME_OF_PAGE.has(change.subject)) return [buildEvent(change, name)];
  const { tasks, ...rest } = change.payload as { tasks: { task_id: string }[] };
  return tasks.map((task) => {
    const event_id = derivedId(change.event_id, task.task_id, change.created_at);
    return buildEvent({ ...change, subject: name, event_id, payload: { ...rest, task } }, name);
  });
}

/** Returns the events that a change amounts to for these patterns; each is an event of its own with its own stable id. */
export function eventsOfChange(change: ChangeEvent, patterns: ReadonlySet<string>): DeliveredEvent[] {
  const { names, events } = buildBodies(change);
  return names
    .filter((name) => isWanted(patterns, name))
    .flatMap((name) => {
      const built = events.get(name) ?? eventsUnder(change, name as WebhookEvent);
      events.set(name, built);
      return built;
    });
}

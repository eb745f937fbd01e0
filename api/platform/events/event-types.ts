import { z } from 'zod';
import { agentEvents } from './catalogue/agent.js';
import { approvalEvents } from './catalogue/approvals.js';
import { automationEvents } from './catalogue/automations.js';
import { bulkEvents } from './catalogue/bulk.js';
import { commentEvents } from './catalogue/comments.js';
import { cycleEvents } from './catalogue/cycles.js';
import { forgeEvents, listForgeTriggers } from './catalogue/forge.js';
import { noteEvents } from './catalogue/notes.js';
import { projectEvents } from './catalogue/projects.js';
import { projectUpdateEvents } from './catalogue/project-updates.js';
import { relationEvents } from './catalogue/relations.js';
import { requestEvents } from './catalogue/requests.js';
import { runnerEvents } from './catalogue/runners.js';
import { taskEvents } from './catalogue/tasks.js';
import { teamEvents } from './catalogue/teams.js';
import { webhookEvents } from './catalogue/webhooks.js';
import type { DerivedEvent, Payload, StoredEvent } from './declare.js';

/**
 * Everything that can happen, by name: each event is declared once, in the file of ./catalogue with the first word of its name. Triggers,
 * webhooks, their schemas, examples and words, and the rows of the table `event_types` follow from it; `record_change` rejects any other type.
 */
const CATALOGUE = {
  ...taskEvents,
  ...commentEvents,
  ...projectEvents,
  ...projectUpdateEvents,
  ...relationEvents,
  ...noteEvents,
  ...cycleEvents,
  ...teamEvents,
  ...runnerEvents,
  ...bulkEvents,
  ...automationEvents,
  ...approvalEvents,
  ...requestEvents,
  ...agentEvents,
  ...webhookEvents,
  ...forgeEvents,
};

type Catalogue = typeof CATALOGUE;
export type EventName = keyof Catalogue;
/** Name of an event that is stored. */
export type EventType = { [Name in EventName]: Catalogue[Name] extends StoredEvent ? Name : never }[EventName];

/** All declarations in the order of lists. */
export const EVENTS = Object.entries(CATALOGUE) as readonly [EventName, StoredEvent | DerivedEvent][];

const isStored = (event: StoredEvent | DerivedEvent): event is StoredEvent => 'payload' in event;
const STORED = EVENTS.flatMap(([name, event]) => (isStored(event) ? [[name as EventType, event] as const] : []));
const DERIVED = EVENTS.flatMap(([name, event]) => (isStored(event) ? [] : [[name, event.of] as const]));

export const EVENT_TYPES: readonly EventType[] = STORED.map(([type]) => type);

/** The event of a change, with the fields of its type. `event_id` only if the cause determines it. */
export type ChangeEvent = {
  [Type in EventType]: {
    type: Type;
    payload: { [Field in keyof Catalogue[Type]['payload']]: unknown };
    event_id?: string;
  };
}[EventType];

/** Returns the schema of an event's stored payload. */
export const payloadSchema = (type: EventType) =>
  z.looseObject({ actor_id: z.uuid().nullable(), ...(CATALOGUE[type] as StoredEvent).payload });

/** Events with a page of records, and the name under which endpoints receive each record. */
export const NAME_OF_PAGE: ReadonlyMap<string, EventName> = new Map(
  STORED.flatMap(([type, { recordEvent }]) => (recordEvent === undefined ? [] : [[type, recordEvent as EventName]])),
);

/** Returns the names that an event amounts to: its own, those derived from its changes, and its families. */
export const triggersOfEvent = (subject: string, payload: Payload): string[] => [
  ...listForgeTriggers(subject),
  ...DERIVED.flatMap(([name, of]) => (Object.hasOwn(of, subject) && of[subject]?.(payload) ? [name] : [])),
];

/** For every event type, all names that such an event can amount to; the table `event_types` holds the same. */
export const triggersOfTypes = Object.fromEntries(
  STORED.map(([type, { recordEvent }]) => [
    type,
    recordEvent === undefined
      ? [...listForgeTriggers(type), ...DERIVED.flatMap(([name, of]) => (Object.hasOwn(of, type) ? [name] : []))]
      : [],
  ]),
) as Readonly<Record<EventType, string[]>>;

import { EVENTS, type EventName } from '../../../platform/events/event-types.js';

export type WebhookEvent = EventName | 'webhook.test';

/** Every event that an endpoint can subscribe to, by name, with its description. `webhook.test` goes to the endpoint that asks for it. */
export const WEBHOOK_EVENTS: Readonly<Partial<Record<WebhookEvent, string>>> = Object.fromEntries(
  EVENTS.flatMap(([name, { webhook, past }]) => (webhook === undefined ? [] : [[name, webhook === true ? past : webhook]])),
);

const NAMES = Object.keys(WEBHOOK_EVENTS) as WebhookEvent[];

const getFamily = (name: string): string => `${name.split('.', 1)[0]}.*`;

/** Every entry that `events` of an endpoint may hold: names, families, and everything. */
export const EVENT_PATTERNS: readonly string[] = ['*', ...new Set(NAMES.map(getFamily)), ...NAMES];

/** Returns whether an endpoint's patterns ask for an event. */
export const isWanted = (patterns: ReadonlySet<string>, name: string): boolean =>
  Object.hasOwn(WEBHOOK_EVENTS, name) && (patterns.has('*') || patterns.has(name) || patterns.has(getFamily(name)));

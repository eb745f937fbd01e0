import { automations } from './automations.js';
import type { AnySubscriberKind } from './subscriber.js';

/** Every kind of subscriber; the order is that of an event's pairs. */
export const SUBSCRIBERS: readonly AnySubscriberKind[] = [automations];

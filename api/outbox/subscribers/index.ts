import { automations } from './automations.js';
import { triage } from './triage.js';
import { webhooks } from './webhooks.js';
import type { AnySubscriberKind } from './subscriber.js';

/** All kinds of subscribers, in the order of an event's pairs. */
export const SUBSCRIBERS: readonly AnySubscriberKind[] = [automations, triage, webhooks];

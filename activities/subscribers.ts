import { automations } from '../api/automation/definitions/matching/subscriber.js';
import { triage } from '../api/automation/triage/subscriber.js';
import { webhooks } from '../api/integrations/webhooks/events/subscriber.js';
import type { AnySubscriberKind } from '../api/platform/outbox/subscriber.js';

/** All kinds of subscribers, in the order of an event's pairs. */
export const SUBSCRIBERS: readonly AnySubscriberKind[] = [automations, triage, webhooks];

import { z } from 'zod';
import { Id, Text, Timestamp } from '../../platform/fields.js';
import { byCursor, byOffset } from '../../platform/endpoint/pages.js';
import { didYouMean, nearest } from '../../platform/validation/suggestions.js';
import { EVENT_PATTERNS } from './events/names.js';
import { WEBHOOK_FORMATS } from './events/slack.js';

const MAX_URL_LENGTH = 2_048;
const MAX_NAMED = 64;

const Url = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  // Browsers and URL parsers drop or rewrite what this excludes; the address shown would not be the one called.
  .regex(/^[!-[\]-~]*$/, 'must not contain blanks, backslashes or characters outside ASCII; write a host in Punycode')
  .meta({
    description: 'https, to a public address; no credentials in it. The operator may allow other hosts',
    example: 'https://hooks.example.com/assent',
  });

const EventPattern = z
  .string()
  .refine((pattern) => EVENT_PATTERNS.includes(pattern), {
    error: ({ input }) => {
      const name = String(input).slice(0, MAX_NAMED);
      return `has no event ${name}${didYouMean(nearest(name, EVENT_PATTERNS, 3, 8))}`;
    },
  })
  .meta({ example: 'task.*' });

const Events = z
  .array(EventPattern)
  .min(1)
  .max(EVENT_PATTERNS.length)
  .overwrite((patterns) => [...new Set(patterns)])
  .meta({ description: 'Names of events, `family.*`, or `*` for all' });

const Description = Text.trim().max(500).nullish().meta({ description: 'Shown to team admins only' });

const Format = z.enum(WEBHOOK_FORMATS).meta({
  description: '`json`: the event, signed. `slack`: one line about it, as incoming webhooks of Slack and Mattermost take it',
});

export const WebhookParams = z.object({ webhook_id: Id });
export const DeliveryParams = z.object({ webhook_id: Id, delivery_id: Id });
export const ListWebhooks = z.object({ team_id: Id, ...byOffset() });
export type ListWebhooks = z.output<typeof ListWebhooks>;

export const CreateWebhook = z
  .object({
    url: Url,
    team_id: Id,
    events: Events,
    description: Description,
    format: Format.default('json'),
    is_active: z.boolean().default(true),
  })
  .meta({ id: 'CreateWebhook' });
export type CreateWebhook = z.output<typeof CreateWebhook>;

export const UpdateWebhook = z
  .object({
    url: Url.optional(),
    events: Events.optional(),
    description: Description,
    format: Format.optional(),
    is_active: z.boolean().optional().meta({ description: 'true also clears `disabled_reason` and `failure_count`' }),
  })
  .meta({ id: 'UpdateWebhook' });
export type UpdateWebhook = z.output<typeof UpdateWebhook>;

const webhookFields = {
  webhook_id: z.string(),
  team_id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  format: Format,
  is_active: z.boolean(),
  disabled_reason: z
    .enum(['gone', 'failing'])
    .nullable()
    .meta({ description: '`gone`: the receiver answered 410; `failing`: every attempt of five days failed' }),
  secret_prefix: z.string(),
  failure_count: z.int().meta({ description: 'Failed attempts since the last success' }),
  last_success_at: Timestamp.nullable(),
  last_failure_at: Timestamp.nullable(),
  created_by: z.string(),
  created_at: Timestamp,
};
export const WebhookRecord = z.object(webhookFields).meta({ id: 'Webhook' });
export type WebhookRecord = z.output<typeof WebhookRecord>;

export const WebhookWithSecret = z
  .object({
    ...webhookFields,
    secret: z.string().meta({ description: 'Signing secret (Standard Webhooks); only in this response' }),
  })
  .meta({ id: 'WebhookWithSecret' });
export type WebhookWithSecret = z.output<typeof WebhookWithSecret>;

export const DeletedWebhook = z.object({ success: z.literal(true), webhook_id: z.string() }).meta({ id: 'DeletedWebhook' });

const DELIVERY_STATES = ['pending', 'succeeded', 'failed'] as const;

export const ListDeliveries = z.object({
  status: z.enum(DELIVERY_STATES).optional(),
  ...byCursor('event_id'),
});
export type ListDeliveries = z.output<typeof ListDeliveries>;

const attemptFields = {
  at: Timestamp,
  status_code: z.int().nullable().meta({ description: 'null without a response' }),
  duration_ms: z.int(),
  error: z.string().nullable(),
};
const Attempt = z.object(attemptFields).meta({ id: 'WebhookAttempt' });
const AttemptWithResponse = z
  .object({ ...attemptFields, response: z.string().nullable().meta({ description: 'First 1,000 characters of the response' }) })
  .meta({ id: 'WebhookAttemptWithResponse' });

const deliveryFields = {
  delivery_id: z.string(),
  event_id: z.string().meta({ description: 'Header `webhook-id` of every attempt' }),
  event_type: z.string(),
  status: z.enum(DELIVERY_STATES),
  next_attempt_at: Timestamp.nullable().meta({ description: 'null unless pending, and while the endpoint is disabled' }),
};
const attempts = 'Oldest first; the last 20';
export const DeliveryRecord = z
  .object({ ...deliveryFields, attempts: z.array(Attempt).meta({ description: attempts }) })
  .meta({ id: 'WebhookDelivery' });
export type DeliveryRecord = z.output<typeof DeliveryRecord>;

export const DeliveryDetail = z
  .object({
    ...deliveryFields,
    attempts: z.array(AttemptWithResponse).meta({ description: attempts }),
    request_body: z
      .string()
      .meta({ description: 'The exact text that is sent and signed, in the format that the endpoint has now' }),
  })
  .meta({ id: 'WebhookDeliveryDetail' });
export type DeliveryDetail = z.output<typeof DeliveryDetail>;

const isMoment = (text: string): boolean => z.iso.datetime({ offset: true }).safeParse(text).success;
// A format alone: the pattern of the check has classes that engines read differently.
const moment = (description: string) =>
  z
    .string()
    .refine(isMoment, 'must be an ISO 8601 date-time with an offset, such as 2026-11-20T00:00:00Z')
    .meta({ format: 'date-time', description, example: '2026-11-20T00:00:00Z' });

export const ReplayWebhook = z
  .object({
    from: moment('First moment of the events'),
    to: moment('End of the events, exclusive'),
    status: z.enum(['failed']).default('failed'),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], message: 'must be after from' })
  .meta({ id: 'ReplayWebhook' });
export type ReplayWebhook = z.output<typeof ReplayWebhook>;

export const ReplayedWebhook = z
  .object({ queued: z.int().meta({ description: 'Deliveries that are attempted again' }) })
  .meta({ id: 'ReplayedWebhook' });
export type ReplayedWebhook = z.output<typeof ReplayedWebhook>;

import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import type { WebhookEvent } from '../integrations/webhooks/events/names.js';
import { DELIVERED_EVENTS, buildSample } from '../integrations/webhooks/events/samples.js';
import { getSchema } from '../integrations/webhooks/events/schemas.js';

/** Headers of Standard Webhooks 1.0. */
const Headers = z.object({
  'webhook-id': z.string().meta({
    description: 'Id of the event; a delivery that arrives twice has the same',
    example: '0197a000-1000-7000-8000-000000000001',
  }),
  'webhook-timestamp': z.string().meta({ description: 'Time of this attempt in Unix seconds', example: '1795197062' }),
  'webhook-signature': z.string().meta({
    description: 'Signatures separated by blanks: one of each secret during a rotation',
    example: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }),
});

const getId = (name: WebhookEvent): string =>
  `on${name
    .split(/[._]/)
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join('')}`;

const buildOperation = (name: WebhookEvent, summary: string): ZodOpenApiPathItemObject => ({
  post: {
    operationId: getId(name),
    tags: ['Webhooks'],
    summary,
    security: [],
    requestParams: { header: Headers },
    requestBody: { required: true, content: { 'application/json': { schema: getSchema(name), example: buildSample(name) } } },
    responses: {
      '2XX': { description: 'Received' },
      '410': { description: 'The receiver is gone: the delivery fails and the endpoint is disabled' },
      '4XX': { description: 'Tried again later, as after every other answer and after none' },
    },
  },
});

/** Requests that the service sends to webhook endpoints, by event. */
export const openApiWebhooks = (): Record<string, ZodOpenApiPathItemObject> =>
  Object.fromEntries(DELIVERED_EVENTS.map(([name, summary]) => [name, buildOperation(name, summary)]));

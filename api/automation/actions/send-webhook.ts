import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { OutboundAction } from '../../gate/contract/action-type.js';
import { ActionRefused } from '../../gate/contract/action-refused.js';
import { sendActionRequest } from './send-action-request.js';
import { WebAddress } from './web-address.js';

const TIMEOUT_MS = 15_000;

/**
 * The team's secret that signs its webhooks, shared with the receiver. `whsec_` and base64, as in the libraries of Standard
 * Webhooks; any other text is the key itself.
 */
const SIGNING_SECRET = 'WEBHOOK_SIGNING_KEY';

function getKey(secret: string): Buffer {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  // An empty key is worse than no signature: everyone can sign with it.
  if (key.length > 0) return key;
  throw new ActionRefused({ code: 'secret_missing', message: `${SIGNING_SECRET} is not a base64 key` });
}

const Params = z.object({
  url: WebAddress,
  payload: z.json().optional().meta({ description: 'Default: the event as `{type, timestamp, data}`' }),
});

/**
 * Returns the headers of Standard Webhooks 1.0: `v1` is the HMAC-SHA256 of id, time and body.
 * @throws ActionRefused an empty key
 */
function signed(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', getKey(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Without keys of no value: what is shown is the text that is sent. */
const eventBody = (event: Readonly<Record<string, unknown>>): unknown =>
  JSON.parse(JSON.stringify({ type: event['type'], timestamp: event['occurred_at'], data: event }));

export const sendWebhook: OutboundAction<z.output<typeof Params>> = {
  type: 'send_webhook',
  label: 'Send a signed webhook',
  category: 'core',
  params: Params,
  secrets: true,
  needs: [SIGNING_SECRET],
  complete: ({ payload, ...params }, event) => ({
    ...params,
    payload: payload === undefined ? eventBody(event) : payload,
  }),
  send(context, { url, payload }) {
    const body = JSON.stringify(payload);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Assent',
      ...signed(context.secrets.get(SIGNING_SECRET) ?? '', context.key, body),
    };
    return sendActionRequest(context, { method: 'POST', url, headers, body, timeoutMs: TIMEOUT_MS });
  },
};

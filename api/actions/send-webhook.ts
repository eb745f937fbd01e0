import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { OutboundAction } from './action-type.js';
import { ActionRefused } from './action-refused.js';
import { sendActionRequest } from './send-action-request.js';
import { WebAddress } from './web-address.js';

const TIMEOUT_MS = 15_000;

/**
 * The team's secret that signs its webhooks; the receiver knows it too. `whsec_` and base64, as the libraries of Standard Webhooks
 * take it, else the text itself is the key.
 */
const SIGNING_SECRET = 'WEBHOOK_SIGNING_KEY';

function keyOf(secret: string): Buffer {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
  // Anybody can sign with an empty key: worse than no signature at all.
  if (key.length > 0) return key;
  throw new ActionRefused({ code: 'secret_missing', message: `${SIGNING_SECRET} holds no key: nothing decodes from its base64` });
}

const Params = z.object({
  url: WebAddress,
  payload: z.json().optional().meta({ description: 'The event, as `{type, timestamp, data}`, when absent' }),
});

/** Headers of Standard Webhooks 1.0 (H4): `v1` is the HMAC-SHA256 of id, time and body. @throws ActionRefused an empty key */
function signed(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

export const sendWebhook: OutboundAction<z.output<typeof Params>> = {
  type: 'send_webhook',
  label: 'Send a signed webhook',
  category: 'core',
  params: Params,
  secrets: true,
  needs: [SIGNING_SECRET],
  send(errand, { url, payload }) {
    const { event } = errand;
    const body = JSON.stringify(payload ?? { type: event['type'], timestamp: event['occurred_at'], data: event });
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Assent',
      ...signed(errand.secrets.get(SIGNING_SECRET) ?? '', errand.key, body),
    };
    return sendActionRequest(errand, { method: 'POST', url, headers, body, timeoutMs: TIMEOUT_MS });
  },
};

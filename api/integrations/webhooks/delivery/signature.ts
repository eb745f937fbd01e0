import { createHmac } from 'node:crypto';
import { keyOfSecret } from '../secret.js';

/**
 * Returns the headers of Standard Webhooks 1.0. One signature for each secret, the current one first; a receiver accepts the delivery
 * if one of them is right, so it may take over a new secret at any time of a rotation.
 */
export function signatureHeaders(secrets: readonly string[], id: string, body: string, now = Date.now()): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => `v1,${createHmac('sha256', keyOfSecret(secret)).update(signed).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

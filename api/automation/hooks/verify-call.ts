import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { signatureHeaders } from '../../integrations/webhooks/delivery/signature.js';
import { openWebhookSecret } from '../../integrations/webhooks/secret.js';
import type { EncryptedEnvelope, EncryptionConfig } from '../../platform/crypto/encryption.js';
import { DomainError } from '../../platform/errors.js';

/** Largest difference between the time of a signed call and this clock; much shorter than a key counts. */
const TOLERANCE_SECONDS = 300;

/** One text for every cause. */
const refused = () =>
  new DomainError('AUTHENTICATION_REQUIRED', 'Missing or invalid signature', { headers: { 'WWW-Authenticate': 'Signature' } });

const isSame = (one: string, two: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(two)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/**
 * Checks the signature of a call as Standard Webhooks has it, over id, time and the body's bytes.
 * @throws AUTHENTICATION_REQUIRED | errors of a master key that is not at hand
 */
export function verifyCall(
  config: EncryptionConfig,
  automationId: string,
  sealed: EncryptedEnvelope,
  { headers, body }: { headers: IncomingHttpHeaders; body: Buffer },
): void {
  const [id, time, given] = ['id', 'timestamp', 'signature'].map((name) => headers[`webhook-${name}`]);
  if (typeof id !== 'string' || typeof time !== 'string' || typeof given !== 'string') throw refused();
  if (!/^[0-9]{1,12}$/.test(time) || Math.abs(Date.now() / 1_000 - Number(time)) > TOLERANCE_SECONDS) throw refused();
  const secret = openWebhookSecret(config, automationId, sealed);
  const expected = signatureHeaders([secret], id, body.toString(), Number(time) * 1_000)['webhook-signature'] as string;
  if (!given.split(' ').some((each) => isSame(each, expected))) throw refused();
}

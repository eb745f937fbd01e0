import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** `FORGE_WEBHOOK_SECRET` and, during a rotation, the previous one. */
interface ForgeSecrets {
  readonly current?: string | undefined;
  readonly previous?: string | undefined;
}

/**
 * Checked before decoding: `Buffer.from(text, 'hex')` stops silently at the first wrong character, and `timingSafeEqual` throws
 * on unequal lengths. Upper-case digits are equivalent; the prefix is exact.
 */
const SIGNATURE = /^sha256=([0-9a-fA-F]{64})$/;

/**
 * Returns whether the header signs exactly these bytes with one of our secrets. Fails closed without a current secret; a previous
 * one alone is not enough.
 */
export function verifySignature(rawBody: Buffer, header: string | undefined, secrets: ForgeSecrets): boolean {
  const hex = SIGNATURE.exec(header ?? '')?.[1];
  if (hex === undefined || !secrets.current) return false;
  const signature = Buffer.from(hex, 'hex');
  const accepted = secrets.previous ? [secrets.current, secrets.previous] : [secrets.current];
  // Compares every secret before returning, so that timing does not reveal which one matched.
  return accepted.map((secret) => timingSafeEqual(signature, digest(rawBody, secret))).includes(true);
}

/** Returns the `X-Hub-Signature-256` value for these bytes. */
export function sign(rawBody: Buffer, secret: string): string {
  return `sha256=${digest(rawBody, secret).toString('hex')}`;
}

const digest = (rawBody: Buffer, secret: string): Buffer => createHmac('sha256', secret).update(rawBody).digest();

/** Ids stored as sent: printable ASCII, at most 200 characters, unlike the keys generated here. */
const PLAIN_ID = /^(?!content:|hashed:)[ -~]{1,200}$/;

/**
 * Returns the key under which a delivery is handled once: the id that the code host sent; a hash of an id unfit for a column; or,
 * without an id, a hash of event and body. `event` is the event header ('' if missing), `bodySha256Hex` the hash of the raw
 * bytes. At most 200 characters, printable ASCII (docs/decisions/integrations.md#delivery-ids).
 */
export function deliveryKey(header: string | undefined, event: string, bodySha256Hex: string): string {
  const id = header?.trim() ?? '';
  // The hash comes first because its fixed length marks where the event starts.
  if (id === '') return `content:${sha256(`${bodySha256Hex}${event}`)}`;
  return PLAIN_ID.test(id) ? id : `hashed:${sha256(id)}`;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

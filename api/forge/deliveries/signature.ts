import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** `FORGE_WEBHOOK_SECRET` and, while it is being rotated, the one before it. */
interface ForgeSecrets {
  readonly current?: string | undefined;
  readonly previous?: string | undefined;
}

/**
 * Checked before the bytes are decoded: `Buffer.from(text, 'hex')` stops silently at the first wrong character, and
 * `timingSafeEqual` throws on unequal lengths. Upper-case digits are the same number; the prefix is exact.
 */
const SIGNATURE = /^sha256=([0-9a-fA-F]{64})$/;

/**
 * Whether the header signs exactly these bytes with a secret of ours. Fails closed without a current secret; a previous one
 * alone does not make the service configured.
 * Source: contract, section 5, webhook authentication; decision H1.
 */
export function verifySignature(rawBody: Buffer, header: string | undefined, secrets: ForgeSecrets): boolean {
  const hex = SIGNATURE.exec(header ?? '')?.[1];
  if (hex === undefined || !secrets.current) return false;
  const given = Buffer.from(hex, 'hex');
  const accepted = secrets.previous ? [secrets.current, secrets.previous] : [secrets.current];
  // Every secret is compared before the answer, so that its time does not tell which one matched.
  return accepted.map((secret) => timingSafeEqual(given, digest(rawBody, secret))).includes(true);
}

/** The `X-Hub-Signature-256` value for these bytes. Source: contract, section 5, webhook authentication. */
export function sign(rawBody: Buffer, secret: string): string {
  return `sha256=${digest(rawBody, secret).toString('hex')}`;
}

const digest = (rawBody: Buffer, secret: string): Buffer => createHmac('sha256', secret).update(rawBody).digest();

/** Ids kept as sent: printable ASCII, at most 200, and not looking like a key made here. */
const PLAIN_ID = /^(?!content:|hashed:)[ -~]{1,200}$/;

/**
 * The key under which a delivery is handled once: the id that the forge sent; a hash of an id unfit for a column; and without
 * an id, a hash of event and body. `event` is the event header ('' when missing), `bodySha256Hex` the hash of the raw bytes.
 * At most 200 characters, printable ASCII. Source: decision H1; durability notes 3.5.
 */
export function deliveryKey(header: string | undefined, event: string, bodySha256Hex: string): string {
  const id = header?.trim() ?? '';
  // The hash has a fixed length, so putting it first leaves no doubt where the event begins.
  if (id === '') return `content:${sha256(`${bodySha256Hex}${event}`)}`;
  return PLAIN_ID.test(id) ? id : `hashed:${sha256(id)}`;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

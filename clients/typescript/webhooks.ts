/** A delivery of a webhook that cannot be trusted. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export interface VerifyOptions {
  /** Signing secrets, `whsec_…`: one, or several while a secret is rotated. */
  secret: string | readonly string[];
  /** Largest difference between the delivery's time and this clock, seconds; default 300. */
  toleranceSeconds?: number;
  /** Time of this clock, ms since 1970; default now. */
  now?: number;
}

type Bytes = Uint8Array<ArrayBuffer>;
type GivenHeaders = Headers | Record<string, string | readonly string[] | undefined>;

const PREFIX = 'whsec_';
const VERSION = 'v1,';
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

/** Decodes base64; undefined for any other text. */
function decode(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Returns a header by its name in lower case. @throws WebhookVerificationError without it */
function getHeader(headers: GivenHeaders, name: string): string {
  const found =
    headers instanceof Headers ? headers.get(name) : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  const value = typeof found === 'string' ? found : found?.[0];
  if (!value) throw new WebhookVerificationError(`The delivery has no header ${name}`);
  return value;
}

/** @throws WebhookVerificationError a time that is malformed, too old, or in the future */
function checkTime(timestamp: string, { toleranceSeconds = 300, now = Date.now() }: VerifyOptions): void {
  if (!/^[0-9]{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a time in seconds');
  if (Math.abs(now / 1000 - Number(timestamp)) <= toleranceSeconds) return;
  throw new WebhookVerificationError('The delivery is too old, or this clock is wrong');
}

/** @throws TypeError a secret in another form */
function getKey(secret: string) {
  const bytes = secret.startsWith(PREFIX) ? decode(secret.slice(PREFIX.length)) : undefined;
  if (!bytes || bytes.length === 0) throw new TypeError('A secret is whsec_ and a key in base64');
  return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['verify']);
}

/** Joins what is signed: `{id}.{timestamp}.` and the bytes of the body. */
function signedBytes(start: string, body: string | Uint8Array): Bytes {
  const [head, tail] = [new TextEncoder().encode(start), typeof body === 'string' ? new TextEncoder().encode(body) : body];
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

/**
 * Verifies a delivery by Standard Webhooks 1.0 and returns its event. One right signature suffices. Signatures are compared in constant time.
 * Remember `webhook-id`: a delivery may arrive twice.
 * @param body as it arrived, before any parser
 * @throws WebhookVerificationError a delivery that the service did not send, or not now | TypeError a secret in another form
 */
export async function verifyWebhook<Event = unknown>(
  body: string | Uint8Array,
  headers: GivenHeaders,
  options: VerifyOptions,
): Promise<Event> {
  const keys = await Promise.all([options.secret].flat().map(getKey));
  const [id, timestamp] = [getHeader(headers, 'webhook-id'), getHeader(headers, 'webhook-timestamp')];
  const given = getHeader(headers, 'webhook-signature').split(' ');
  checkTime(timestamp, options);
  const signed = signedBytes(`${id}.${timestamp}.`, body);
  const signatures = given.flatMap((each) => (each.startsWith(VERSION) ? (decode(each.slice(VERSION.length)) ?? []) : []));
  const checks = keys.flatMap((key) => signatures.map((signature) => crypto.subtle.verify(ALGORITHM, key, signature, signed)));
  if (!(await Promise.all(checks)).includes(true)) throw new WebhookVerificationError('No signature of the delivery is right');
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as Event;
}

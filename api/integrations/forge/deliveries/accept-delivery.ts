import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { run } from '../../../../db/statement.js';
import { DomainError, invalid } from '../../../platform/errors.js';
import type { RawRequest } from '../../../platform/endpoint/endpoint.js';
import { acceptDeliveryStatement, countReceivedStatement } from './accept-delivery.sql.js';
import { countSignatureFailure } from './count-signature-failure.js';
import { readAction, normalise, readRepo } from '../rules.js';
import { type ForgeEventType } from '../../../platform/events/catalogue/forge.js';
import { deliveryKey, verifySignature } from './signature.js';
import { storableJson } from './storable-json.js';

/** Response to a signed delivery. */
export type Accepted = { received: true; ping: true } | { received: true; event: ForgeEventType | null; duplicate: boolean };

/** Maximum length of a stored header or repository name; a longer one would not fit its index, and no code host has one. */
export const MAX_NAME = 200;

/** Returns event or delivery id as the code host names it in a header; those of GitHub count where ours are absent. */
export const getHeader = (headers: IncomingHttpHeaders, name: 'event' | 'delivery'): string | undefined =>
  String(headers[`x-forge-${name}`] ?? '') || String(headers[`x-github-${name}`] ?? '') || undefined;

/** One message for every cause, even a missing secret of ours; the status route shows operators the cause. */
export const refused = () =>
  new DomainError('AUTHENTICATION_REQUIRED', 'Missing or invalid signature', {
    headers: { 'WWW-Authenticate': 'Signature' },
  });

/** Returns why a delivery is ignored, for operators. */
export function whyIgnored(event: string | undefined, body: unknown): string {
  if (event === undefined) return 'No event header';
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body is no JSON object';
  const action = readAction(body);
  return `Not a listed event: ${event.slice(0, 100)}${action === null ? '' : ` with action ${action.slice(0, 100)}`}`;
}

/**
 * Stores what a delivery holds in its own text, or a cleaned copy if PostgreSQL rejects that.
 */
export const storing = <T>(body: Buffer, value: unknown, insert: (payload: string) => Promise<T>): Promise<T> =>
  insert(body.toString()).catch((error: unknown) => {
    if (!isUnstorable(error)) throw error;
    return insert(storableJson(value));
  });

/**
 * Values that jsonb cannot store raise class 22 (a NUL, half a surrogate pair, a number too large) or 54 (a limit of the server).
 */
const isUnstorable = (error: unknown): boolean =>
  error instanceof Error && /^(22|54)/.test((error as Error & { code?: string }).code ?? '');

/** Stores the receipt with the payload's own text; falls back to a cleaned copy if PostgreSQL rejects it. */
async function store({ services, headers, body, requestId }: RawRequest, event: string | undefined, value: unknown) {
  const type = normalise(event ?? '', value)?.type ?? null;
  const bodySha256 = createHash('sha256').update(body).digest();
  const key = deliveryKey(getHeader(headers, 'delivery'), event ?? '', bodySha256.toString('hex'));
  const repo = readRepo(value)?.toLowerCase().slice(0, MAX_NAME) ?? null;
  const reason = type === null ? whyIgnored(event, value) : null;
  const insert = async (payload: string | null) => {
    const values = [key, event?.slice(0, MAX_NAME) ?? null, type, repo, bodySha256, payload, reason, requestId];
    const [row] = await run<{ duplicate: boolean; echoed: boolean }>(services.db, acceptDeliveryStatement, values);
    return { key, type, duplicate: row?.duplicate === true, echoed: row?.echoed === true };
  };
  // An ignored delivery stores a reason but no payload.
  return type === null ? insert(null) : storing(body, value, insert);
}

/**
 * Accepts one delivery whose size and rate are already checked: signature, ping, JSON, then receipt, counters and outbox row in
 * one commit. The relay does the work (`applyDelivery`). Drops a repeated delivery id. `parse` reads JSON strictly and throws for
 * anything else.
 * @throws AUTHENTICATION_REQUIRED wrong or missing signature, or no secret configured | INVALID_REQUEST the body is not JSON
 */
export async function acceptDelivery(request: RawRequest, parse: (bytes: Buffer) => unknown): Promise<Accepted> {
  const { services, headers, body } = request;
  const { FORGE_WEBHOOK_SECRET: current, FORGE_WEBHOOK_SECRET_PREVIOUS: previous } = services.config;
  if (!verifySignature(body, headers['x-hub-signature-256']?.toString(), { current, previous })) {
    await countSignatureFailure(services);
    throw refused();
  }
  const event = getHeader(headers, 'event');
  const countReceived = () => run(services.db, countReceivedStatement, [event?.slice(0, MAX_NAME) ?? null]);
  if (event === 'ping') {
    await countReceived();
    return { received: true, ping: true };
  }
  let value: unknown;
  try {
    value = parse(body);
  } catch (error) {
    await countReceived();
    throw invalid('The body is not valid JSON', { cause: error });
  }
  const { key, type, duplicate, echoed } = await store(request, event, value);
  if (echoed && !duplicate) services.log.warn({ delivery_id: key }, 'a delivery repeats an earlier body under a new id');
  if (type !== null && !duplicate) services.notifyRelay();
  return { received: true, event: type, duplicate };
}

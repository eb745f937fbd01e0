import { createHash } from 'node:crypto';
import type { Actor } from '../platform/access/actor.js';
import type { Services } from '../platform/context.js';
import { conflict, invalidFields } from '../platform/errors.js';
import { holdKey } from '../platform/database/hold-key.js';
import { claimKey, type IdempotentRequest, readKey, type StoredKey } from '../platform/database/idempotency-keys.js';
import type { Incoming, Outgoing } from './exchange.js';
import { type Endpoint, takesKey } from '../platform/endpoint/endpoint.js';
import { toDomainError } from '../platform/database/database-errors.js';
import { envelope } from './envelope.js';

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const badKey = (type: string, message: string) => invalidFields([{ field: 'header.Idempotency-Key', message, type }]);

/**
 * Returns the idempotency key of a request if the route accepts one and the client sent it. `body` is the JSON before defaults.
 * @throws VALIDATION_ERROR for a key that is empty, too long or not printable
 */
export function getKey(spec: Endpoint, actor: Actor, incoming: Incoming, body: unknown): IdempotentRequest | undefined {
  const key = incoming.request.headers['idempotency-key'];
  if (key === undefined || actor.type === 'system' || !takesKey(spec)) return undefined;
  if (typeof key !== 'string' || !PRINTABLE.test(key)) throw badKey('invalid_format', '1 to 255 printable ASCII characters');
  const [path] = (incoming.request.url ?? '').split('?');
  return {
    userId: actor.userId,
    key,
    address: sha256(`${incoming.request.method} ${path}`),
    fingerprint: sha256(JSON.stringify([incoming.query, body ?? null])),
    requestId: incoming.requestId,
  };
}

/**
 * Returns the stored response. @throws VALIDATION_ERROR another request | RESOURCE_CONFLICT in progress, or its response was lost
 */
function replay({ fingerprint, status, body, lost, request_id }: StoredKey, use: IdempotentRequest): Outgoing {
  if (!use.fingerprint.equals(fingerprint)) throw badKey('key_reused', 'This key was used with another body or query');
  if (status !== null) return { status, body, headers: { 'Idempotency-Replayed': 'true' } };
  if (!lost) throw conflict('The first request with this key is still in progress', { headers: { 'Retry-After': '1' } });
  throw conflict('The first request with this key completed, but its response was lost', {
    detail: `Its effects are in the audit log under ${request_id}. Check them before you retry with another key.`,
  });
}

/** Temporary errors are not stored, so the client can retry with the same key. */
const isKept = (status: number): boolean => status !== 422 && status !== 429 && status < 500;

/** Converts an error to a response, so the stored one equals the sent one. @throws errors that are not stored */
function toRefusal(thrown: unknown, use: IdempotentRequest): Outgoing {
  const error = toDomainError(thrown);
  if (!isKept(error.status)) throw thrown;
  return { status: error.status, body: envelope(error, use.requestId), headers: error.headers };
}

/** Runs the request, then stores the response or releases the key. */
function performOnce(services: Services, use: IdempotentRequest, perform: () => Promise<Outgoing>): Promise<Outgoing> {
  const work = async () => {
    const answer = await perform().catch((thrown: unknown) => toRefusal(thrown, use));
    return { ...answer, body: typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body) };
  };
  return holdKey(services, use, work, ({ status, body }) => (isKept(status) ? { status, body: body ?? null } : null));
}

/**
 * Runs a request with this key at most once in 24 hours, whichever process it reaches; a repetition gets the stored response
 * (docs/decisions/platform.md#idempotency-keys). The claim is committed before the work starts, so one of many concurrent requests proceeds.
 * @throws what `perform` throws; VALIDATION_ERROR the key belongs to another request; RESOURCE_CONFLICT in progress
 */
export async function withIdempotencyKey(
  services: Services,
  use: IdempotentRequest,
  perform: () => Promise<Outgoing>,
): Promise<Outgoing> {
  for (;;) {
    if (await claimKey(services.db, use)) return performOnce(services, use, perform);
    const held = await readKey(services.db, use);
    if (held) return replay(held, use);
    // Released concurrently; try again.
  }
}

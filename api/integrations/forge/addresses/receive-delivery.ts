import { createHash } from 'node:crypto';
import { run } from '../../../../db/statement.js';
import { type Context, inTransaction } from '../../../platform/context.js';
import { cleanUserAgent } from '../../../platform/endpoint/user-agent.js';
import type { RawRequest } from '../../../platform/endpoint/endpoint.js';
import { addressKey } from '../../../platform/endpoint/rate-limit.js';
import { forbidden, invalid } from '../../../platform/errors.js';
import { Id } from '../../../platform/fields.js';
import { newWebhookSecret, openWebhookSecret, sealWebhookSecret } from '../../webhooks/secret.js';
import { type Accepted, getHeader, MAX_NAME, refused, storing, whyIgnored } from '../deliveries/accept-delivery.js';
import { deliveryKey, verifySignature } from '../deliveries/signature.js';
import { normalise, readRepo } from '../rules.js';
import * as sql from './receive-delivery.sql.js';
import { recordAddressChange } from './record-address-change.js';

/** A bound repository with the secrets of its address, encrypted. */
interface FoundAddress extends Record<string, unknown> {
  binding_id: string;
  repo: string;
  team_id: string;
  project_id: string | null;
  data_key: Buffer;
  sealed_value: Buffer;
  previous_data_key: Buffer | null;
  previous_sealed_value: Buffer | null;
}

/** A verified address, with the secret that signed the delivery, encrypted. */
type Verified = FoundAddress & { signed_by: Buffer };

/** An address, or what stands in for one that nobody has: checking its signature costs the same, and never succeeds. */
type Admitted = Pick<FoundAddress, 'binding_id' | 'data_key' | 'sealed_value'> & Partial<FoundAddress> & { isKnown: boolean };

/**
 * Finds the address of a delivery, before its body is read. A delivery counts for address and sender together, so that no sender uses up
 * what others may send; all unknown addresses count as one.
 * @throws RATE_LIMIT_EXCEEDED
 */
export async function admitDelivery({ services, params, ip, count }: Omit<RawRequest, 'body' | 'admitted'>): Promise<Admitted> {
  const binding_id = Id.parse(params['binding_id']);
  const [found] = await run<FoundAddress>(services.db, sql.findAddressStatement, [binding_id]);
  await count(`${found ? binding_id : 'unknown'} ${addressKey(ip)}`);
  if (found) return { ...found, isKnown: true };
  return { binding_id, ...sealWebhookSecret(services.config, binding_id, newWebhookSecret()), isKnown: false };
}

/** Returns the secret that signed the delivery, encrypted; undefined for none. */
function findSigner({ services: { config }, headers, body }: RawRequest, address: Admitted): Buffer | undefined {
  const { binding_id, data_key, sealed_value, previous_data_key, previous_sealed_value } = address;
  const secrets = [{ data_key, sealed_value }];
  if (previous_data_key && previous_sealed_value)
    secrets.push({ data_key: previous_data_key, sealed_value: previous_sealed_value });
  const header = headers['x-hub-signature-256']?.toString();
  // Compares every secret before returning, so that timing does not reveal which one matched.
  const signers = secrets.filter((secret) =>
    verifySignature(body, header, { current: openWebhookSecret(config, binding_id, secret) }),
  );
  return signers[0]?.sealed_value;
}

/**
 * @throws AUTHENTICATION_REQUIRED, in the same way for an unknown address as for a wrong signature | RATE_LIMIT_EXCEEDED: what is refused counts
 * for its sender
 */
async function verify(request: RawRequest): Promise<Verified> {
  const address = request.admitted as Admitted;
  const signed_by = findSigner(request, address);
  if (signed_by && address.isKnown) return { ...(address as Admitted & FoundAddress), signed_by };
  await run(request.services.db, sql.noteUnsignedStatement, [address.binding_id]);
  await request.count(null);
  throw refused();
}

/** Reads the JSON of a delivery. @throws INVALID_REQUEST */
function read({ headers, body }: RawRequest, parse: (bytes: Buffer) => unknown): unknown {
  try {
    return parse(body);
  } catch (cause) {
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const detail = isForm ? 'Set the content type of the webhook to application/json.' : undefined;
    throw invalid('The body is not valid JSON', { cause, ...(detail && { detail }) });
  }
}

/** @throws PERMISSION_DENIED the delivery is of another repository; a ping may name none */
function checkRepo(address: FoundAddress, value: unknown, isPing: boolean): void {
  const repo = readRepo(value)?.toLowerCase().slice(0, MAX_NAME);
  if (repo === address.repo || (isPing && repo === undefined)) return;
  const detail = repo === undefined ? 'This one names no repository.' : `This one is of ${repo}.`;
  throw forbidden(`This address takes deliveries of ${address.repo} only`, { detail });
}

const DETAIL = 300;

/** Keeps a signed delivery that does nothing, for those who look why. @throws the refusal; AUTHENTICATION_REQUIRED as `store` */
async function refuse(
  { services }: RawRequest,
  { binding_id, signed_by }: Verified,
  key: string,
  event: string | null,
  refusal: unknown,
): Promise<never> {
  const { message, detail } = refusal as { message: string; detail?: string };
  const reason = [message, detail].filter(Boolean).join('. ').slice(0, DETAIL);
  const stored = await run(services.db, sql.storeRefusedStatement, [binding_id, key, event, reason, signed_by]);
  throw stored.length === 0 ? refused() : refusal;
}

/**
 * Stores receipt and work in one transaction; the first delivery connects the repository.
 * @throws AUTHENTICATION_REQUIRED the secret that signed it has ended while the body came
 */
async function store(request: RawRequest, address: Verified, values: readonly (string | null)[]): Promise<boolean> {
  const { services, headers, requestId, ip } = request;
  const caller = { actor: { type: 'system', name: 'forge' } as const, ip, userAgent: cleanUserAgent(headers['user-agent']) };
  const ctx: Context = { ...services, ...caller, requestId, correlationId: requestId };
  return inTransaction(ctx, async (ctx) => {
    const [row] = await run<{ duplicate: boolean; connects: boolean }>(ctx.db, sql.storeDeliveryStatement, [
      ...values,
      requestId,
      address.signed_by,
    ]);
    if (!row) throw refused();
    if (row.connects) await recordAddressChange(ctx, address, 'connect');
    return row.duplicate;
  });
}

/**
 * Takes a delivery to the address of a binding, whose own secret signs it, and which reaches only the binding's team and repository. Works as
 * `acceptDelivery` otherwise; a ping leaves a receipt too.
 * @throws AUTHENTICATION_REQUIRED wrong or missing signature, or an unknown address | PERMISSION_DENIED of another repository |
 * INVALID_REQUEST the body is not JSON | RATE_LIMIT_EXCEEDED
 */
export async function receiveDelivery(request: RawRequest, parse: (bytes: Buffer) => unknown): Promise<Accepted> {
  const address = await verify(request);
  const { headers, body } = request;
  const header = getHeader(headers, 'event');
  const event = header?.slice(0, MAX_NAME) ?? null;
  const key = deliveryKey(getHeader(headers, 'delivery'), header ?? '', createHash('sha256').update(body).digest('hex'));
  const isPing = header === 'ping';
  let value: unknown;
  try {
    value = read(request, parse);
    checkRepo(address, value, isPing);
  } catch (refusal) {
    return refuse(request, address, key, event, refusal);
  }
  const type = normalise(header ?? '', value)?.type ?? null;
  const reason = isPing ? 'A ping: the address works' : type === null ? whyIgnored(header, value) : null;
  const insert = (payload: string | null) => store(request, address, [address.binding_id, key, event, type, payload, reason]);
  const duplicate = await (type === null ? insert(null) : storing(body, value, insert));
  return isPing ? { received: true, ping: true } : { received: true, event: type, duplicate };
}

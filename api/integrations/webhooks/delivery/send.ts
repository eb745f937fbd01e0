import type { Config } from '../../../platform/config.js';
import { toFailure } from '../../../platform/http-client/failure.js';
import type { OutboundPolicy } from '../../../platform/http-client/policy.js';
import { sendRequest } from '../../../platform/http-client/send-request.js';
import { openWebhookSecret, withoutWebhookSecrets } from '../secret.js';
import { bodyFor, type WebhookFormat } from '../events/slack.js';
import { signatureHeaders } from './signature.js';
import { type Outcome, toOutcome } from './timetable.js';

/** A leased delivery with what sending takes. */
export interface Leased extends Record<string, unknown> {
  webhook_id: string;
  team_id: string;
  event_id: string;
  tries: number;
  /** End of the lease, as the database writes it: names the lease. */
  lease: string;
  url: string;
  format: WebhookFormat;
  failure_count: number;
  /** Null: the event has been deleted after its time. */
  body: string | null;
  data_key: Buffer;
  sealed_value: Buffer;
  previous_data_key: Buffer | null;
  previous_sealed_value: Buffer | null;
}

/** Record of an attempt. */
interface Attempt {
  at: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  /** Beginning of the answer. */
  response: string | null;
}

/** What became of a delivery; without `attempt` nothing was sent. */
export type Sent = Outcome & { attempt: Attempt | null };

/** Characters of an answer that are kept. */
const MAX_RESPONSE = 1_000;
/** Characters of an answer that are searched for secrets: a thousand hostile ones cost milliseconds of the process. */
const MAX_RESPONSE_READ = 1_500;
/** Bytes of an answer that are read: characters take up to four. */
const MAX_RESPONSE_BYTES = 4_000;
/** One text for an unknown host and for a private one (docs/decisions/integrations.md#webhook-addresses). */
const UNREACHABLE = 'The host was not found, or its address is not allowed';
/** A secret that cannot be opened is the operator's trouble: the delivery waits and no attempt is counted. */
const UNREADABLE_SECONDS = 60;

/** @throws as `decryptField` */
function listSigningSecrets(config: Config, delivery: Leased): string[] {
  const { webhook_id, previous_data_key: data_key, previous_sealed_value: sealed_value } = delivery;
  const current = openWebhookSecret(config, webhook_id, delivery);
  if (!data_key || !sealed_value) return [current];
  return [current, openWebhookSecret(config, webhook_id, { data_key, sealed_value })];
}

/**
 * Sends one attempt of a delivery and decides what follows. Redirects are not followed: like every answer but 2xx and 410, they count as
 * a failure that is tried again.
 * @throws as `decryptField`, without having sent anything
 */
async function attempt(config: Config, policy: OutboundPolicy, delivery: Leased, body: string): Promise<Sent> {
  const { event_id, url, tries } = delivery;
  const secrets = listSigningSecrets(config, delivery);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Assent',
    ...signatureHeaders(secrets, event_id, body),
  };
  const at = new Date().toISOString();
  const started = performance.now();
  const record = (status_code: number | null, error: string | null, response: string | null): Attempt => {
    return { at, status_code, duration_ms: Math.round(performance.now() - started), error, response };
  };
  const steps = config.WEBHOOK_RETRY_SECONDS;
  const timeoutMs = config.WEBHOOK_TIMEOUT_SECONDS * 1_000;
  try {
    const answer = await sendRequest(policy, { method: 'POST', url, headers, body, timeoutMs, maxBytes: MAX_RESPONSE_BYTES });
    const outcome = toOutcome(tries, answer.status, answer.retryAfterMs, steps);
    const error = outcome.status === 'succeeded' ? null : `The receiver returned ${answer.status}`;
    const read = answer.body.slice(0, MAX_RESPONSE_READ);
    // A receiver may answer with its own settings.
    const clean = withoutWebhookSecrets(secrets, read, answer.isCut || read.length < answer.body.length);
    const response = Array.from(clean).slice(0, MAX_RESPONSE).join('');
    return { ...outcome, attempt: record(answer.status, error, response) };
  } catch (thrown) {
    const failure = toFailure(thrown);
    const error = failure.reason === 'url_blocked' ? UNREACHABLE : failure.message;
    return { ...toOutcome(tries, null, failure.waitMs, steps), attempt: record(null, error, null) };
  }
}

/** Sends a delivery. Never throws: `onUnreadable` reports a secret that cannot be opened. */
export async function sendDelivery(
  config: Config,
  policy: OutboundPolicy,
  delivery: Leased,
  onUnreadable: (error: unknown) => void,
): Promise<Sent> {
  if (delivery.body === null) return { status: 'failed', isGone: false, attempt: null };
  try {
    return await attempt(config, policy, delivery, bodyFor(config, delivery.format, delivery.body));
  } catch (error) {
    onUnreadable(error);
    return { status: 'retry', waitSeconds: UNREADABLE_SECONDS, attempt: null };
  }
}

import { randomUUID } from 'node:crypto';
import { AssentError } from '../../errors.js';
import { type Api, type ChangeRequest, type Outcome, persist, type Redeemed } from '../api.js';
import { describeOutage, Failure, isAway, refusalReason } from '../exit.js';
import type { Screen } from '../terminal.js';
import { failureOf } from '../wait.js';
import { sendOutcome } from './outcome.js';

export const notRun = (reason: string, more: object = {}): Outcome => ({
  status: 'failed',
  details: { ran: false, reason, ...more },
});

const isRedeemed = (error: unknown): boolean =>
  error instanceof AssentError && (error.body as { request_status?: string } | undefined)?.request_status === 'redeemed';

/**
 * Cancels a request whose command will not run. If its approval is used already, as the answer that said so was lost, it reports that nothing
 * ran.
 */
export async function withdraw(api: Api, { request_id, url }: ChangeRequest, why: string, screen: Screen): Promise<void> {
  try {
    await api.cancel(request_id, why);
    screen.say('withdrew the request', { event: 'withdrawn', request_id });
  } catch (error) {
    if (isRedeemed(error)) await sendOutcome(api, request_id, notRun(why));
    else if (isAway(error))
      screen.say(`the request could not be withdrawn (${describeOutage(error)}): ${url}`, { event: 'away', request_id });
    // Otherwise it has ended by itself.
  }
}

/**
 * Uses the approval. While the service is away it repeats the call under the same id, so that an answer that was lost uses nothing twice.
 * @returns undefined if the approval no longer counts and the request waits again
 * @throws {Failure} the request has ended, or the service was away until the approval had
 */
export async function redeem(
  api: Api,
  request: ChangeRequest,
  screen: Screen,
  signal: AbortSignal,
): Promise<Redeemed | undefined> {
  const { request_id, request_hash, use_until } = request;
  const body = { request_hash, redemption_id: randomUUID() };
  const until = use_until === null ? Date.now() : api.toLocal(use_until);
  const onAway = (error: unknown) =>
    screen.say(`the service is away (${describeOutage(error)}), trying to use the approval`, { event: 'away', request_id });
  try {
    return await persist(() => api.redeem(request_id, body, signal), { until, signal, onAway });
  } catch (error) {
    signal.throwIfAborted();
    if (isAway(error)) {
      // Perhaps it was used, and nobody could tell us.
      await sendOutcome(api, request_id, notRun('the service was away'));
      throw new Failure('away', `the service was away until the approval ended: ${describeOutage(error)}`);
    }
    if (!(error instanceof AssentError) || ![409, 410].includes(error.status)) throw error;
    const now = await api.get(request_id);
    if (now.status === 'pending' && refusalReason(error) === 'not_approved') return undefined;
    throw failureOf(now) ?? error;
  }
}

import { randomUUID } from 'node:crypto';
import { AssentError } from '../../errors.js';
import { type Api, type ChangeRequest, type Outcome, persist, type Redeemed } from '../api.js';
import { describeOutage, Failure, isAway, refusalReason } from '../exit.js';
import type { Screen } from '../terminal.js';
import { failureOf } from '../wait.js';
import { closeUnused, keepUnused } from './outcome.js';

export const notRun = (reason: string, more: object = {}): Outcome => ({
  status: 'failed',
  details: { ran: false, reason, ...more },
});

/** The one use of an approval by this process. */
export class Use {
  readonly #id = randomUUID();
  /** The approval may be used, although nothing said so. */
  #isTried = false;

  constructor(
    private readonly api: Api,
    private readonly screen: Screen,
  ) {}

  /**
   * Uses the approval. While the service is away it repeats the call under the same id, so that an answer that was lost uses nothing twice.
   * @returns undefined if the approval no longer counts and the request waits again
   * @throws {Failure} the request has ended, or the service was away until the approval had
   */
  async redeem(request: ChangeRequest, signal: AbortSignal): Promise<Redeemed | undefined> {
    const { api, screen } = this;
    const { request_id, use_until } = request;
    const body = this.#body(request);
    const until = use_until === null ? Date.now() : api.toLocal(use_until);
    const onAway = (error: unknown) =>
      screen.say(`the service is away (${describeOutage(error)}), trying to use the approval`, { event: 'away', request_id });
    this.#isTried = true;
    try {
      return await persist(() => api.redeem(request_id, body, signal), { until, signal, onAway });
    } catch (error) {
      signal.throwIfAborted();
      if (isAway(error)) {
        await this.withdraw(request, 'the service was away');
        throw new Failure('away', `the service was away until the approval ended: ${describeOutage(error)}`);
      }
      if (!(error instanceof AssentError) || ![409, 410].includes(error.status)) throw error;
      const now = await api.get(request_id);
      if (now.status === 'pending' && refusalReason(error) === 'not_approved') return undefined;
      throw failureOf(now) ?? error;
    }
  }

  /**
   * Cancels a request whose command will not run. If this process has used its approval, because the answer that said so was lost, it reports
   * that nothing ran. While the service is away that is kept for the next call.
   */
  async withdraw(request: ChangeRequest, why: string): Promise<void> {
    const { api, screen } = this;
    const { request_id, url } = request;
    const unused = { request_id, outcome: notRun(why), ...(this.#isTried && { redemption: this.#body(request) }) };
    try {
      if (await closeUnused(api, unused)) screen.say('withdrew the request', { event: 'withdrawn', request_id });
    } catch (error) {
      if (!isAway(error)) throw error;
      if (this.#isTried) keepUnused(api, unused);
      screen.say(`the request could not be withdrawn (${describeOutage(error)}): ${url}`, { event: 'away', request_id });
    }
  }

  #body({ request_hash }: ChangeRequest): { request_hash: string; redemption_id: string } {
    return { request_hash, redemption_id: this.#id };
  }
}

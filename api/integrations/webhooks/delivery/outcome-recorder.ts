import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { disableWebhook } from './disable-webhook.js';
import { finishStatement } from './finish.sql.js';
import { type Endpoint, type Finished, healthColumns, summarizeHealth, outcomeColumns } from './outcomes.js';

/** Outcomes that end within this time share a statement: a short time for few requests, a longer one beside many. */
const BATCH_MS = { few: 5, many: 25 };
const MANY = 20;
const MAX_BATCH = 200;
const RETRY_MS = 500;

interface RecordedOutcome extends Record<string, unknown> {
  webhook_id: string;
  is_failing: boolean;
  has_more: boolean;
}

/** Records outcomes of attempts, many in one statement, and disables endpoints that are gone or failing. */
export class OutcomeRecorder {
  private readonly waiting: Finished[] = [];
  private recording: Promise<void> | undefined;
  /** Endpoints that are being disabled, one after the other. */
  private readonly ending = new Set<string>();
  private disabled: Promise<void> = Promise.resolve();

  /** `inFlight`: requests in progress. `onRecorded` receives the endpoints with more due. */
  constructor(
    private readonly services: Services,
    private readonly inFlight: () => number,
    private readonly onRecorded: (endpoints: readonly Endpoint[]) => void,
  ) {}

  add(finished: Finished): void {
    this.waiting.push(finished);
    this.recording ??= this.record().finally(() => {
      this.recording = undefined;
    });
  }

  /** Resolves when every outcome so far is recorded. */
  async settled(): Promise<void> {
    await this.recording;
    await this.disabled;
  }

  private async record(): Promise<void> {
    await sleep(this.inFlight() > MANY ? BATCH_MS.many : BATCH_MS.few);
    while (this.waiting.length > 0) await this.recordBatch(this.waiting.splice(0, MAX_BATCH), true);
  }

  /**
   * Records a batch, or after a failure each outcome alone, so that a bad one costs no other. What still fails is sent again under the
   * same id when its lease ends.
   */
  private async recordBatch(batch: readonly Finished[], mayRepeat: boolean): Promise<void> {
    const { db, config, log } = this.services;
    try {
      const values = [...outcomeColumns(batch), ...healthColumns(summarizeHealth(batch)), config.WEBHOOK_DISABLE_SECONDS];
      const recorded = await run<RecordedOutcome>(db, finishStatement, values);
      this.disableThose(
        batch,
        recorded.flatMap(({ webhook_id, is_failing }) => (is_failing ? [webhook_id] : [])),
      );
      const withMore = new Set(
        recorded.flatMap(({ webhook_id, has_more }) => (has_more && !this.ending.has(webhook_id) ? [webhook_id] : [])),
      );
      this.onRecorded(batch.flatMap(({ delivery }) => (withMore.delete(delivery.webhook_id) ? [delivery] : [])));
    } catch (error) {
      log.warn({ err: error, deliveries: batch.length }, 'outcomes of webhooks were not recorded');
      if (!mayRepeat) return;
      await sleep(RETRY_MS);
      for (const finished of batch) await this.recordBatch([finished], false);
    }
  }

  /** Starts to disable endpoints. Outcomes do not wait for it: a team could be slow to lock, and disable its endpoints again and again. */
  private disableThose(batch: readonly Finished[], failing: readonly string[]): void {
    const gone = batch.flatMap(({ delivery, sent }) => (sent.status === 'failed' && sent.isGone ? [delivery.webhook_id] : []));
    for (const id of gone) this.disable(id, 'gone');
    for (const id of failing) this.disable(id, 'failing');
  }

  /** What fails here is tried again after the next attempt, which fails as well. */
  private disable(id: string, reason: 'gone' | 'failing'): void {
    if (this.ending.has(id)) return;
    this.ending.add(id);
    this.disabled = this.disabled
      .then(() => disableWebhook(this.services, id, reason))
      .catch((error: unknown) => this.services.log.warn({ err: error, webhook_id: id }, 'a webhook was not disabled'))
      .finally(() => this.ending.delete(id));
  }
}

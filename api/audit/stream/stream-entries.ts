import type { Knex } from 'knex';
import { run } from '../../../db/statement.js';
import type { Config } from '../../platform/config.js';
import type { Logger } from '../../platform/telemetry/log.js';
import { OtlpSender, toAttributes } from '../../platform/telemetry/otlp.js';
import { buildRecord, type StreamedEntry } from './audit-record.js';
import { CHAINS, claimChainsStatement, moveStatement, readEntriesStatement } from './stream.sql.js';

/** Wait after a first failure, ms; doubled for each further one, up to the second. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

interface Position extends Record<string, unknown> {
  chain: string;
  sequence: number;
}

/**
 * Throws unless the sink has taken all records: otherwise all of them are sent again. A response that is not one of OTLP comes from something else,
 * such as a page that answers 200 at any address.
 */
function checkTaken(response: string): void {
  if (response === '') return;
  let body: { partialSuccess?: Partial<Record<string, unknown>>; partial_success?: Partial<Record<string, unknown>> } | null;
  try {
    body = JSON.parse(response) as typeof body;
  } catch {
    throw new Error('The sink did not answer in the form of OTLP/JSON');
  }
  const partial = body?.partialSuccess ?? body?.partial_success;
  const rejected = Number(partial?.['rejectedLogRecords'] ?? partial?.['rejected_log_records'] ?? 0);
  if (rejected !== 0) throw new Error(`The sink rejected ${rejected} records`);
}

/**
 * Sends sealed audit entries to a log sink, each chain in its order, at least once. Several workers may run it: each sends the chains that it has
 * claimed. A position moves only after the sink has accepted, so nothing is skipped, whatever dies or fails in between.
 */
export class AuditStream {
  private readonly sender: OtlpSender;
  private failures = 0;
  private retryAt = 0;

  /** `db`: with a connection of its own, so that a large installation's backlog delays nothing else. */
  constructor(
    private readonly db: Knex,
    private readonly log: Logger,
    config: Pick<Config, 'AUDIT_OTLP_ENDPOINT' | 'AUDIT_OTLP_HEADERS'>,
  ) {
    this.sender = new OtlpSender(config.AUDIT_OTLP_ENDPOINT ?? '', '/v1/logs', config.AUDIT_OTLP_HEADERS);
  }

  /**
   * Sends one request with what some chains wait to send; returns how many entries. After a failure it does nothing until the next attempt is due.
   * @throws Error of the database only
   */
  async pass(): Promise<number> {
    if (Date.now() < this.retryAt) return 0;
    // Alone after a failure: what the sink refuses of one chain must not hold up the others.
    const claimed = await run<Position>(this.db, claimChainsStatement, [this.failures === 0 ? CHAINS : 1]);
    if (claimed.length === 0) return 0;
    const from = new Map(claimed.map(({ chain, sequence }) => [chain, sequence]));
    const entries = await run<StreamedEntry & Record<string, unknown>>(this.db, readEntriesStatement, [
      [...from.keys()],
      [...from.values()],
    ]);
    try {
      await this.send(entries);
    } catch (error) {
      await this.fail(error, from);
      return 0;
    }
    if (this.failures > 0) this.log.info('Audit entries are sent again');
    this.failures = 0;
    const sent = new Map(entries.map(({ chain, sequence }) => [chain, sequence]));
    const chains = [...from.keys()];
    await run(this.db, moveStatement, [chains, [...from.values()], chains.map((chain) => sent.get(chain) ?? from.get(chain))]);
    return entries.length;
  }

  /** Ends a request that is under way; its entries are sent again later. */
  close(): Promise<void> {
    return this.sender.close();
  }

  private async send(entries: readonly StreamedEntry[]): Promise<void> {
    const now = Date.now();
    const response = await this.sender.send({
      resourceLogs: [
        {
          resource: { attributes: toAttributes({ 'service.name': 'assent-audit' }) },
          scopeLogs: [{ scope: { name: 'assent.audit' }, logRecords: entries.map((entry) => buildRecord(entry, now)) }],
        },
      ],
    });
    checkTaken(response);
  }

  /** Frees the chains for the next pass of any worker. */
  private async fail(error: unknown, from: ReadonlyMap<string, number>): Promise<void> {
    if (this.failures === 0) this.log.warn({ err: error }, 'Audit entries cannot be sent; trying again');
    this.retryAt = Date.now() + Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** this.failures);
    this.failures += 1;
    const positions = [...from.values()];
    await run(this.db, moveStatement, [[...from.keys()], positions, positions]);
  }
}

import type { Services } from '../platform/context.js';
import { type SealReport, sealEntries } from './seal-entries.js';

/** Delay that batches concurrent changes, ms. An entry waits at most this long plus the current pass. */
const DEBOUNCE = 50;
/** Polling interval without a notification, ms; covers lost ones (api/platform/outbox/relay-notifier.ts). */
const SWEEP = 1_000;

export interface Sealer {
  /** Schedules a pass. Cheap to call. */
  wake: () => void;
  /** Seals what is committed by now, then stops. */
  stop: () => Promise<void>;
}

/**
 * Seals in the background, soon after each change, so that recent entries are covered too. A failed pass is logged once and retried at the
 * next poll; the entries stay pending.
 */
export function startSealer({ db, log }: Pick<Services, 'db' | 'log'>): Sealer {
  const refused = new Set<string>();
  let pass: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let woken = false;
  let stopping = false;
  let failing = false;

  const logReport = (report: SealReport): void => {
    for (const { chain, reason } of report.refused) {
      if (!refused.has(chain)) log.error({ chain, reason }, 'This audit chain is sealed no further: run audit:verify');
      refused.add(chain);
    }
    if (report.rejected > 0) log.error({ rejected: report.rejected }, 'Another program wrote to audit_pending: run audit:verify');
  };
  const seal = async (): Promise<void> => {
    try {
      const report = await sealEntries(db, { lockTimeoutMs: 0 });
      logReport(report);
      // Another process has the lock, and may have read before the newest entry was committed.
      woken ||= report.busy.length > 0;
      if (failing) log.info('Audit entries are sealed again');
      failing = false;
    } catch (error) {
      if (!failing) log.error(error, 'Audit entries cannot be sealed; trying again every second');
      failing = true;
    }
  };
  const runIn = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      woken = false;
      pass = seal().then(() => {
        pass = undefined;
        if (!stopping) runIn(woken && !failing ? DEBOUNCE : SWEEP);
      });
    }, ms);
  };

  runIn(0);
  return {
    wake() {
      const waiting = !woken && !pass && !stopping && !failing;
      woken = true;
      if (waiting) runIn(DEBOUNCE);
    },
    async stop() {
      stopping = true;
      clearTimeout(timer);
      await pass;
      await seal();
    },
  };
}

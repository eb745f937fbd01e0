import { writeFileSync } from 'node:fs';
import { EXIT, Interrupted, toFailure } from '../exit.js';

/** What `--report FILE` says, because the command may use the same exit statuses as we do. */
export interface Report {
  /** Whether the command was started. */
  ran: boolean;
  /** `done`, a reason for which it did not run, a signal, or `unfinished` if we were killed. */
  reason: string;
  request_id: string | null;
  exit_code: number | null;
  signal: string | null;
  duration_ms: number | null;
}

/** The file is written at each step, so that it never says what an earlier run said. */
export class ReportFile {
  #report: Report = { ran: false, reason: 'unfinished', request_id: null, exit_code: null, signal: null, duration_ms: null };

  /** @throws what the system says if the file cannot be written */
  constructor(private readonly path: string | undefined) {
    this.#write();
  }

  update(change: Partial<Report>): void {
    this.#report = { ...this.#report, ...change };
    try {
      this.#write();
    } catch {
      // It still says that we did not finish. What runs, or has run, must not depend on it.
    }
  }

  #write(): void {
    if (this.path !== undefined) writeFileSync(this.path, `${JSON.stringify(this.#report)}\n`);
  }

  /** Names why the command did not run, or why its end is unknown. */
  fail(error: unknown): void {
    if (error instanceof Interrupted) this.update({ reason: error.signal, signal: error.signal });
    else this.update({ reason: toFailure(error)?.reason ?? 'failed', exit_code: toFailure(error)?.exit ?? EXIT.failed });
  }
}

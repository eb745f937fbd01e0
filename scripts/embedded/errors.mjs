/**
 * A start-up problem for users: what happened, what to do, and the relevant log lines. Launchers throw it for every expected
 * failure; anything else is a bug and keeps its stack.
 */
export class StartError extends Error {
  /**
   * @param {string} cause one sentence: what went wrong
   * @param {string | string[]} cure what to do about it, one or several ways
   * @param {string[]} [log] last lines of the process that failed
   */
  constructor(cause, cure, log = []) {
    super(cause);
    this.name = 'StartError';
    this.cures = [cure].flat();
    this.log = log;
  }
}

/**
 * Prints a failure to stderr: cause and cures for the expected kind, the stack for a bug.
 * @param {unknown} error
 */
export function printFailure(error) {
  const out = (line) => process.stderr.write(`${line}\n`);
  if (!(error instanceof StartError)) {
    out(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return;
  }
  out(`\n  ✗ ${error.message}`);
  for (const line of error.log) out(`      │ ${line}`);
  for (const cure of error.cures) out(`    → ${cure}`);
  out('');
}

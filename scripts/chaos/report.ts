import type { Verdict } from './invariants.js';

const colour = process.stdout.isTTY && !process.env['NO_COLOR'];
const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

/** Formats a line of the timeline. `seconds` since the start. */
export const timelineLine = (seconds: number, what: string, detail = ''): string =>
  `${paint(2, `${seconds.toFixed(1)} s`.padStart(8))}  ${what}${detail ? paint(2, `  ${detail}`) : ''}`;

/** Formats the invariants: a mark, name and description, followed by violations. */
export function verdictTable(verdicts: readonly Verdict[]): string[] {
  const width = Math.max(...verdicts.map(({ name }) => name.length));
  return verdicts.flatMap(({ name, words, violations, skipped }) => {
    const mark = skipped !== null ? paint(2, '–') : violations.length === 0 ? paint(32, '✓') : paint(31, '✗');
    const line = `  ${mark} ${name.padEnd(width)}  ${words}${skipped === null ? '' : paint(2, ` (not judged: ${skipped})`)}`;
    return [line, ...violations.map((violation) => `      ${paint(31, violation)}`)];
  });
}

/** Returns whether no checked invariant is violated. */
export const allHold = (verdicts: readonly Verdict[]): boolean => verdicts.every(({ violations }) => violations.length === 0);

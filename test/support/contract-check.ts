import { readFileSync } from 'node:fs';
import type { Answer } from './app.js';

declare global {
  /** Given by environment.mjs. */
  var answerFaults: (
    method: string,
    path: string,
    status: number,
    body: unknown,
    headers: Record<string, string>,
  ) => string | undefined;
}

/** The published document, with every object closed. */
export const closedDocument = (): Record<string, unknown> =>
  JSON.parse(readFileSync(process.env['ASSENT_TEST_DOCUMENT'] as string, 'utf8'));

/**
 * Holds every answer a test receives against the published document: the shape that clients are promised, not the code that
 * made it. Fails on an undeclared status, header or media type too.
 */
export function checkAgainstDocument(method: string, path: string, answer: Answer): void {
  const faults = globalThis.answerFaults(
    method,
    path.split('?')[0] as string,
    answer.status,
    answer.body,
    Object.fromEntries(answer.headers),
  );
  if (faults === undefined) return;
  const shown = JSON.stringify(answer.body ?? null).slice(0, 600);
  throw new Error(`${method} ${path} answered ${answer.status} unlike its document: ${faults}\n${shown}`);
}

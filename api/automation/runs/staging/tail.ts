import { ActionRefused, type ActionFailure } from '../../../gate/contract/action-refused.js';
import { canonicalJson, computeHash, hashText } from '../../../gate/staging/canonical.js';
import { GATE } from '../../actions/rules.js';
import type { RunRow } from '../execution/load-run.js';
import type { StagedAction } from '../../../gate/staging/staged-action.js';

/** One action behind a gate. */
export interface StagedStep extends StagedAction {
  type: string;
  /** Name that the automation gives it. */
  name: string | null;
  /** Marks in the parameters that stand for secrets, with the names of the secrets. A mark is random, so no text of an event holds one. */
  secrets: Readonly<Record<string, string>>;
  /** Version of the target before the first action on it. */
  expected_version: number | null;
  /** Why it would be refused now; null if it would not. */
  refused: ActionFailure | null;
  /** Why its condition skips it, or that it would change nothing; absent if it is performed. */
  skipped?: string;
}

/** What a gate releases: the actions up to the next gate or the end. People are shown it, and the run performs it. */
export interface StagedTail {
  v: 1;
  run_id: string;
  gate_index: number;
  automation_id: string;
  automation_version: number;
  /** User as whom the actions act. */
  creator_id: string;
  actions: StagedStep[];
}

/** A tail as it is stored. */
export interface StoredTail {
  staged: string;
  staged_hash: string;
}

/** Indexes of the actions behind a gate that are left to do, up to the next gate or the end. */
export function listTail(actions: RunRow['actions'], gateIndex: number, done: readonly number[]): number[] {
  const behind = [...actions.keys()].slice(gateIndex + 1);
  const next = behind.findIndex((index) => actions[index]?.['type'] === GATE);
  return (next === -1 ? behind : behind.slice(0, next)).filter((index) => !done.includes(index));
}

const hashOfTail = (text: string): string => hashText(computeHash('assent.gate.v1\n', text));

export function composeTail(tail: StagedTail): StoredTail {
  const staged = canonicalJson(tail);
  return { staged, staged_hash: hashOfTail(staged) };
}

/**
 * Reads a tail back.
 * @throws ActionRefused `staged_text_damaged`: another program wrote to the database
 */
export function readTail({ staged, staged_hash }: StoredTail): StagedTail {
  if (hashOfTail(staged) === staged_hash) return JSON.parse(staged) as StagedTail;
  throw new ActionRefused({ code: 'staged_text_damaged', message: 'The text that was approved is damaged; nothing was done' });
}

/** Returns a copy of a value with each mark replaced, in every text. */
export function replaceMarks(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (values.size === 0) return value;
  if (typeof value === 'string') {
    let text = value;
    for (const [mark, secret] of values) text = text.replaceAll(mark, () => secret);
    return text;
  }
  if (Array.isArray(value)) return value.map((item) => replaceMarks(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceMarks(item, values)]));
}

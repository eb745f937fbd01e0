import type { Knex } from 'knex';
import { defineStatement, run as sql } from '../../../../db/statement.js';
import { redactSecrets } from '../../../platform/http-client/redact-secrets.js';
import type { OutboundResult } from '../../../gate/contract/action-type.js';
import { MAX_ENTRIES } from '../../language/condition-grammar.js';
import { fieldIn, listAnswerReads, stepNameIn } from '../../language/answer-paths.js';
import type { Answered, RunRow } from './load-run.js';

/** Characters of JSON that a run keeps of one value, and of all that later steps read of one answer. */
const MAX_VALUE = 8_192;
const MAX_ANSWER = 32_768;

type Actions = readonly object[];
interface Tree {
  [name: string]: unknown;
}
const readsOf = (actions: Actions): { path: string }[] => actions.flatMap((action) => listAnswerReads(action));

/** Returns the fields that later steps read of the answer of an action, such as `body.title`; a field before those within it. */
export function listWanted(actions: Actions, index: number): string[] {
  const { name } = (actions[index] ?? {}) as { name?: unknown };
  if (typeof name !== 'string') return [];
  const found = readsOf(actions.slice(index + 1)).filter(({ path }) => stepNameIn(path) === name);
  return [...new Set(found.map(({ path }) => fieldIn(path)))].sort();
}

/** PostgreSQL stores neither NUL nor a lone surrogate. */
const toStorable = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();

/** Levels of an answer, as of parameters. */
const MAX_DEPTH = 32;
class TooDeep extends Error {}

/** Copies JSON with texts and names that PostgreSQL can store. @throws TooDeep */
function copy(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return toStorable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) throw new TooDeep();
  if (Array.isArray(value)) return value.map((each) => copy(each, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [toStorable(name), copy(each, depth + 1)]));
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
/** Digits that a number of JavaScript keeps. */
const MAX_DIGITS = 15;
const isExact = (number: string): boolean =>
  /^-?[\d.]+$/.test(number) && number.replaceAll(/[-.]|^-?0+/g, '').length <= MAX_DIGITS;

/**
 * Returns JSON as its value, and any other text as it is. A number that would lose digits, such as a long id, is a text: another number could name
 * another record.
 */
function parse(text: string): unknown {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const exact = text.replaceAll(TEXT_OR_NUMBER, (token) => (token.startsWith('"') || isExact(token) ? token : `"${token}"`));
  return JSON.parse(exact) as unknown;
}

/** Reads a field by its path over own properties; undefined if the answer has none. */
function readField(answer: unknown, path: readonly string[]): unknown {
  let value = answer;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Tree)[name];
  }
  return value;
}

/** Puts a value at its path. Returns false if a value that is there already contains it. */
function putField(tree: Tree, path: readonly string[], value: unknown): boolean {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    tree[name] = value;
    return true;
  }
  const inner = (tree[name] ??= Object.create(null) as Tree);
  if (typeof inner !== 'object' || Object.getPrototypeOf(inner) !== null) return false;
  return putField(inner as Tree, rest, value);
}

/** What a run keeps of an answer. */
interface KeptAnswer {
  /** The fields that later steps read, as a tree. */
  kept: Tree;
  /** Fields that are there and are not kept: too long, too deep, or of a body that was not read to its end. */
  left_out: string[];
}

/** Returns a field as it is kept; undefined if the answer has none. @throws TooDeep */
function readWanted(answer: Tree, field: string): { value: unknown; size: number } | undefined {
  const found = readField(answer, field.split('.'));
  if (found === undefined) return undefined;
  const value = copy(found);
  return { value, size: JSON.stringify(value).length };
}

function pick(wanted: readonly string[], { output, isCut }: OutboundResult, hidden: ReadonlySet<string>): KeptAnswer {
  const readable = (value: unknown): unknown =>
    typeof value === 'string' && !isCut ? parse(redactSecrets(hidden, value, isCut)) : value;
  const answer = Object.fromEntries(Object.entries(output).map(([name, value]) => [name, readable(value)]));
  const kept = Object.create(null) as Tree;
  const left_out: string[] = [];
  let left = MAX_ANSWER;
  for (const field of wanted) {
    const isPart = isCut === true && field.startsWith('body');
    const read = isPart ? undefined : readWanted(answer, field);
    if (isPart || (read && (read.size > MAX_VALUE || read.size > left))) left_out.push(field);
    else if (read && putField(kept, field.split('.'), read.value)) left -= read.size;
  }
  return { kept, left_out };
}

/**
 * Returns what a run keeps of an answer: a body that is JSON has its fields, any other is a text. Secrets are redacted first. A field of more than
 * 8,192 characters is left out, so that a step that reads it fails instead of using a part. Never throws: the request was sent, and its outcome stands.
 */
export function pickAnswer(wanted: readonly string[], sent: OutboundResult, hidden: ReadonlySet<string>): KeptAnswer {
  try {
    return pick(wanted, sent, hidden);
  } catch {
    return { kept: Object.create(null) as Tree, left_out: [...wanted] };
  }
}

/**
 * $1 = run id, $2 = names. A replay reads the answer of a step that it skips, as it had succeeded, from the run that it repeats. A step that it
 * performs, or that its condition skips, has no other answer than its own.
 */
const answersStatement = defineStatement({
  name: 'answers_of_steps',
  text: /* sql */ `
    with recursive steps as (
      select a.name, a.status, a.output, r.retry_of, 0 as back from automation_runs r join run_actions a using (run_id)
      where r.run_id = $1 and a.name = any($2::text[])
      union all
      select a.name, a.status, a.output, r.retry_of, s.back + 1 from steps s join automation_runs r on r.run_id = s.retry_of
      join run_actions a on a.run_id = r.run_id and a.name = s.name
      where s.status = 'skipped' and s.output is null and s.back < 20
    )
    select name, output->'kept' as kept, output->'left_out' as left_out from steps where output ? 'kept'`,
});

/** Returns the run with the answers that its steps have got, by name, if one of its actions reads an answer; one that has them stays as it is. */
export async function withAnswers<R extends Pick<RunRow, 'run_id' | 'actions'> & Answered>(
  db: Knex,
  run: R,
): Promise<R & Answered> {
  if (run.answers) return run;
  const names = [...new Set(readsOf(run.actions).map(({ path }) => stepNameIn(path)))];
  if (names.length === 0) return run;
  const rows = await sql<{ name: string } & KeptAnswer & Record<string, unknown>>(db, answersStatement, [run.run_id, names]);
  return {
    ...run,
    answers: Object.fromEntries(rows.map(({ name, kept }) => [name, kept])),
    leftOut: rows.flatMap(({ name, left_out }) => (left_out ?? []).map((field) => `steps.${name}.${field}`)),
  };
}

/** Entries of a list or a map that a condition reads. */
const hasManyEntries = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (Object.keys(value).length > MAX_ENTRIES || Object.values(value).some(hasManyEntries));

/** Returns why an action cannot use an answer that it reads: a part of it would pass for the whole. Null if it can. */
export function findUnreadable(run: Pick<RunRow, 'actions'> & Answered, index: number): string | null {
  if (!run.answers) return null;
  for (const { place, path } of listAnswerReads(run.actions[index] ?? {})) {
    const what = `${fieldIn(path)} of the answer of step ${stepNameIn(path)}`;
    if (run.leftOut?.includes(path)) return `${what} is too long to keep`;
    if (place === 'if' && hasManyEntries(readField({ steps: run.answers }, path.split('.'))))
      return `${what} has more than ${MAX_ENTRIES} entries`;
  }
  return null;
}

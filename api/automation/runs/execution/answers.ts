import type { Knex } from 'knex';
import { defineStatement, run as sql } from '../../../../db/statement.js';
import { redactSecrets } from '../../../platform/http-client/redact-secrets.js';
import type { OutboundResult } from '../../../gate/contract/action-type.js';
import { fieldIn, listAnswerReads, stepNameIn } from '../../language/answer-paths.js';
import type { Answered, RunRow } from './load-run.js';

/** Characters of JSON that a run keeps of one value, and of all that later steps read of one answer. */
const MAX_VALUE = 8_192;
const MAX_ANSWER = 32_768;

type Actions = RunRow['actions'];
interface Tree {
  [name: string]: unknown;
}
const readsOf = (actions: Actions): { path: string }[] => actions.flatMap((action) => listAnswerReads(action));

/** Returns the fields that later steps read of the answer of an action, such as `body.title`; a field before those within it. */
export function listWanted(actions: Actions, index: number): string[] {
  const name = actions[index]?.['name'];
  if (typeof name !== 'string') return [];
  const found = readsOf(actions.slice(index + 1)).filter(({ path }) => stepNameIn(path) === name);
  return [...new Set(found.map(({ path }) => fieldIn(path)))].sort();
}

/** PostgreSQL stores neither NUL nor a lone surrogate. */
const toStorable = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();

/** Copies JSON with texts and names that PostgreSQL can store. */
function copy(value: unknown): unknown {
  if (typeof value === 'string') return toStorable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [toStorable(name), copy(each)]));
}

/** Returns JSON as its value, and any other text as it is. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
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

/**
 * Returns what later steps read of an answer, as a tree of the wanted fields: a body that is JSON has its fields, any other is a text. Secrets are
 * redacted first. A value of more than 8,192 characters is left out, so that a step that reads it fails instead of using a part.
 */
export function pickAnswer(wanted: readonly string[], { output, isCut }: OutboundResult, hidden: ReadonlySet<string>): Tree {
  const readable = (value: unknown): unknown => (typeof value === 'string' ? parse(redactSecrets(hidden, value, isCut)) : value);
  const answer = Object.fromEntries(Object.entries(output).map(([name, value]) => [name, readable(value)]));
  const picked = Object.create(null) as Tree;
  let left = MAX_ANSWER;
  for (const field of wanted) {
    const value = copy(readField(answer, field.split('.')));
    const size = JSON.stringify(value)?.length ?? Infinity;
    if (size > MAX_VALUE || size > left) continue;
    if (putField(picked, field.split('.'), value)) left -= size;
  }
  return picked;
}

/** $1 = run id, $2 = names. A replay that skips what had succeeded reads the answers of the run that it repeats. */
const answersStatement = defineStatement({
  name: 'answers_of_steps',
  text: /* sql */ `
    with recursive chain as (
      select r.run_id, r.retry_of, 0 as back from automation_runs r where r.run_id = $1
      union all select r.run_id, r.retry_of, c.back + 1 from chain c join automation_runs r on r.run_id = c.retry_of where c.back < 20
    )
    select distinct on (a.name) a.name, a.output->'kept' as kept from chain c join run_actions a using (run_id)
    where a.name = any($2::text[]) and a.output ? 'kept' order by a.name, c.back`,
});

/** Returns the run with the answers that its steps have got, by name, if one of its actions reads an answer. */
export async function withAnswers<R extends Pick<RunRow, 'run_id' | 'actions'>>(db: Knex, run: R): Promise<R & Answered> {
  const names = [...new Set(readsOf(run.actions).map(({ path }) => stepNameIn(path)))];
  if (names.length === 0) return run;
  const rows = await sql<{ name: string; kept: unknown }>(db, answersStatement, [run.run_id, names]);
  return { ...run, answers: Object.fromEntries(rows.map(({ name, kept }) => [name, kept])) };
}

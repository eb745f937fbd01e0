import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { inspect, KNOWN_NAMES, Refused, VARIABLES } from './condition-grammar.js';
import { EXHAUSTED, MAX_WORK, watch, Work } from './condition-meter.js';
import type { ConditionScope } from './condition-scope.js';

/** Limits of one condition (docs/decisions/automation.md#condition-limits). */
const MAX_SOURCE = 1_000; // code points
const MAX_AST_NODES = 300;
const MAX_AST_DEPTH = 30;
const MAX_ERROR = 300; // code points

const environment = new Environment({
  limits: { maxAstNodes: MAX_AST_NODES, maxDepth: MAX_AST_DEPTH },
  homogeneousAggregateLiterals: false, // as in Google's CEL: `task.assigned_to in [actor.user_id, "u1"]`
});
for (const name of VARIABLES) environment.registerVariable(name, name === 'now' ? 'google.protobuf.Timestamp' : 'dyn');

/** When a trigger fires, no step has run. */
const TRIGGER_NAMES: ReadonlySet<string> = new Set([...KNOWN_NAMES].filter((name) => name !== 'steps'));

interface Compiled {
  program: ParseResult;
  work: Work;
}

/**
 * Validates a condition on save: syntax, names, functions, types and size. `position` counts code points from 0; null if it
 * concerns the whole condition. `names`: what it may name.
 */
export function checkCondition(
  source: string,
  names: ReadonlySet<string> = TRIGGER_NAMES,
): { ok: true } | { ok: false; message: string; position: number | null } {
  try {
    compile(source, names);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: oneLine(error), position: findPosition(error, source) };
  }
}

/** Returns the syntax tree of a valid condition. */
export function parseCondition(source: string): ASTNode | undefined {
  return checkCondition(source, KNOWN_NAMES).ok ? environment.parse(source).ast : undefined;
}

/**
 * Evaluates a condition. Never throws: any error (a missing key, incomparable types, a condition that would be rejected today)
 * returns `matched: false` with one line for the run's `condition_error`.
 */
export function evaluateCondition(source: string, scope: ConditionScope): Verdict {
  return compileCondition(source).evaluate(scope);
}

/** Result of a condition for one event. */
interface Verdict {
  matched: boolean;
  error: string | null;
}

/** A condition parsed and checked once, for any number of events. */
export interface CompiledCondition {
  evaluate: (scope: ConditionScope) => Verdict;
}

/** Compiles a condition. Never throws: an invalid condition evaluates to its error. */
export function compileCondition(source: string): CompiledCondition {
  let compiled: Compiled;
  try {
    compiled = compile(source);
  } catch (error) {
    const refused = { matched: false, error: oneLine(error) };
    return { evaluate: () => refused };
  }
  return { evaluate: (scope) => evaluateVerdict(compiled, scope) };
}

function evaluateVerdict(compiled: Compiled, scope: ConditionScope): Verdict {
  try {
    const result = runMetered(compiled, scope);
    if (typeof result !== 'boolean') throw new Refused(`The condition returned ${nameOfType(result)}, not true or false`);
    return { matched: result, error: null };
  } catch (error) {
    return { matched: false, error: oneLine(error) };
  }
}

/** CEL's || and macros continue after an error in one part, so the budget is checked again at the end. */
function runMetered({ program, work }: Compiled, scope: ConditionScope): unknown {
  work.left = MAX_WORK;
  let result: unknown;
  try {
    result = program(scope);
  } catch (error) {
    throw work.left < 0 ? EXHAUSTED : error;
  }
  if (work.left < 0) throw EXHAUSTED;
  return result;
}

/** @throws Refused or an error of the library */
function compile(source: string, names: ReadonlySet<string> = KNOWN_NAMES): Compiled {
  if (countCharacters(source) > MAX_SOURCE) throw new Refused(`A condition can have at most ${MAX_SOURCE} characters`);
  const program = environment.parse(source);
  inspect(program.ast, names, false, source);
  const checked = program.check();
  if (!checked.valid) throw checked.error ?? new Refused('The condition does not type-check');
  if (checked.type !== 'bool' && checked.type !== 'dyn')
    throw new Refused(`A condition must be true or false, not ${checked.type}`);
  const work = new Work();
  watch(program.ast, work);
  return { program, work };
}

function nameOfType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a timestamp';
  if (typeof value === 'string') return 'a string';
  return typeof value === 'bigint' || typeof value === 'number' ? 'a number' : 'a map or another value';
}

/** The library's `message` draws the source with a caret; its `summary` is the sentence. */
function oneLine(error: unknown): string {
  const { summary, message } = (error ?? {}) as { summary?: string; message?: string };
  const text = summary ?? message ?? 'The condition failed';
  // PostgreSQL cannot store control characters and lone surrogates.
  const line = text.slice(0, 4 * MAX_ERROR).replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ');
  return Array.from(line).slice(0, MAX_ERROR).join('').trim();
}

function findPosition(error: unknown, source: string): number | null {
  const at = error instanceof Refused ? error.at : (error as { range?: { start: number } }).range?.start;
  return typeof at === 'number' ? countCharacters(source.slice(0, at)) : null;
}

/** Length in code points, as everywhere in the API. */
const countCharacters = (text: string): number => Array.from(text).length;

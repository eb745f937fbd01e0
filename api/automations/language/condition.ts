import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';

/** What a condition may name. Source: decision F4. */
const VARIABLES = ['event', 'task', 'changes', 'project', 'actor', 'forge', 'now'] as const;
type Variable = (typeof VARIABLES)[number];

/** Bounds of one condition. Sizes: decision F4. */
const MAX_SOURCE = 1_000; // code points
const MAX_AST_NODES = 300;
const MAX_AST_DEPTH = 30;
const MAX_ENTRIES = 200; // of any list or map a condition sees or builds
const MAX_SCOPE_DEPTH = 40; // a JSON body stops at 32 levels, the event wraps it
const MAX_ERROR = 300; // code points
/** The library reads a duration with a pattern that is cubic in the digits: 1,000 of them take a third of a second. */
const MAX_DURATION = 32; // characters

/**
 * Work one evaluation may do. A unit is one operator, one entry looked at or 64 characters read, 50 to 100 ns. The limits on the
 * source do not bound time alone: `event.body.contains(event.title)` in a macro is 200 searches of any length.
 */
const MAX_WORK = 500_000;
const ERROR_WORK = 400; // an error is caught by || and by macros, and costs 10 to 40 µs to make
const TIME_ZONE_WORK = 1_000; // date formatting with a zone, 60 µs

/** Macros bind a name and run their body once per entry: they may follow one another, never nest. */
const MACROS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * Everything else that can be called: a list of what is allowed, so that a newer library cannot widen the language. Left out on
 * purpose: `matches` (a backtracking pattern), `bind` (a macro under any receiver, doubles values), `json` (unbounded data).
 */
const FUNCTIONS = new Set(
  [
    'has size type dyn bool int uint double string timestamp duration',
    'contains startsWith endsWith indexOf lastIndexOf substring split join trim lowerAscii upperAscii',
    'getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds',
  ].flatMap((line) => line.split(' ')),
);
const TYPE_NAMES = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];
/** Substring searches, worst case text times pattern. */
const SEARCHES = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);
/** Never readable, not even as data: the library reads a timestamp's prototype. */
const HIDDEN = new Set<unknown>(['__proto__', 'constructor', 'prototype']);

const environment = new Environment({
  limits: { maxAstNodes: MAX_AST_NODES, maxDepth: MAX_AST_DEPTH },
  homogeneousAggregateLiterals: false, // as in Google's CEL: `task.assigned_to in [actor.user_id, "u1"]`
});
for (const name of VARIABLES) environment.registerVariable(name, name === 'now' ? 'google.protobuf.Timestamp' : 'dyn');

type CelValue = null | boolean | string | number | bigint | Date | CelValue[] | { [key: string]: CelValue };
declare const converted: unique symbol;

/** The seven variables as CEL values. Only `conditionScope` makes one; the brand keeps raw JSON out. */
export type ConditionScope = Readonly<Record<Variable, CelValue>> & { readonly [converted]: true };

/** A refusal by one of our rules; `at` is an offset in UTF-16 units, as the library counts. */
class Refused extends Error {
  constructor(
    message: string,
    readonly at: number | null = null,
  ) {
    super(message);
  }
}

/** Made once: an exhausted evaluation must not pay for stack traces. */
const EXHAUSTED = new Refused('The condition needs more work on this event than one evaluation may do');

class Work {
  left = 0;

  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw EXHAUSTED;
  }
}

/**
 * Judges a condition when it is saved: syntax, names, functions, types and size.
 * `position` counts code points from 0; null when the whole condition is meant. Source: decisions F1, F4.
 */
export function checkCondition(source: string): { ok: true } | { ok: false; message: string; position: number | null } {
  try {
    compile(source);
    return { ok: true };
  } catch (error) {
    return { ok: false, message: oneLine(error), position: positionOf(error, source) };
  }
}

/**
 * Runs a condition. Never throws: whatever goes wrong (a missing key, two types that do not compare, a condition that would be
 * refused today) is `matched: false` with one line of text for the run's `condition_error`. Source: decision F4.
 */
export function evaluateCondition(source: string, scope: ConditionScope): Verdict {
  return compileCondition(source).evaluate(scope);
}

/** What a condition says of an event. */
interface Verdict {
  matched: boolean;
  error: string | null;
}

/** A condition that was parsed and checked once, for any number of events. */
export interface CompiledCondition {
  evaluate: (scope: ConditionScope) => Verdict;
}

/** Compiles a condition. Never throws: one that would be refused today evaluates to its refusal. */
export function compileCondition(source: string): CompiledCondition {
  let compiled: Compiled;
  try {
    compiled = compile(source);
  } catch (error) {
    const refused = { matched: false, error: oneLine(error) };
    return { evaluate: () => refused };
  }
  return { evaluate: (scope) => verdictOf(compiled, scope) };
}

function verdictOf(compiled: Compiled, scope: ConditionScope): Verdict {
  try {
    const result = runMetered(compiled, scope);
    if (typeof result !== 'boolean') throw new Refused(`The condition gave ${nameOfType(result)}, not true or false`);
    return { matched: result, error: null };
  } catch (error) {
    return { matched: false, error: oneLine(error) };
  }
}

/** CEL's || and macros go on after an error in one part, so the allowance is looked at again when all is done. */
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

/**
 * The variables of one event, converted once for all conditions it meets. JSON integers become CEL ints, so that
 * `event.number + 1 == 8` works; lists and maps keep their first 200 entries; `now` is the only timestamp.
 * `task` and `changes` are short for the event's own; `forge` is the whole event when it came from the code host.
 * Source: decision F5.
 */
export function conditionScope(
  event: object,
  around: { project: object | null; actor: object | null; now: Date },
): ConditionScope {
  const known = (toCel(event) ?? null) as { [key: string]: CelValue } | null;
  const field = (name: Variable | 'type'): CelValue => known?.[name] ?? null;
  return {
    event: known,
    task: field('task'),
    changes: field('changes'),
    project: toCel(around.project) ?? null,
    actor: toCel(around.actor) ?? null,
    forge: isFromForge(field('type')) ? known : null,
    now: around.now,
  } as Readonly<Record<Variable, CelValue>> as ConditionScope;
}

/** The twelve inbound names; the dependency alert comes the same way under its own prefix. Source: spec, section 6. */
const isFromForge = (type: CelValue): boolean =>
  typeof type === 'string' && (type.startsWith('forge.') || type.startsWith('security.'));

/** JSON to CEL. Undefined = not representable or too deep; a map then lacks the key, so that reading it is an error. */
function toCel(value: unknown, depth = 0): CelValue | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint' || value === null) return value;
  if (typeof value !== 'object' || depth === MAX_SCOPE_DEPTH) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString(); // as JSON would have it
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((item) => toCel(item, depth + 1) ?? null);
  const map: { [key: string]: CelValue } = Object.create(null);
  let left = MAX_ENTRIES;
  for (const key of Object.keys(value)) {
    if (left === 0) break;
    const item = HIDDEN.has(key) ? undefined : toCel((value as Record<string, unknown>)[key], depth + 1);
    if (item === undefined) continue;
    map[key] = item;
    left -= 1;
  }
  return map;
}

interface Compiled {
  program: ParseResult;
  work: Work;
}

/** @throws Refused or an error of the library */
function compile(source: string): Compiled {
  if (lengthOf(source) > MAX_SOURCE) throw new Refused(`A condition has at most ${MAX_SOURCE} characters`);
  const program = environment.parse(source);
  inspect(program.ast, KNOWN_NAMES, false, source);
  const checked = program.check();
  if (!checked.valid) throw checked.error ?? new Refused('The condition does not type-check');
  if (checked.type !== 'bool' && checked.type !== 'dyn') throw new Refused(`A condition is true or false, not ${checked.type}`);
  const work = new Work();
  watch(program.ast, work);
  return { program, work };
}

const KNOWN_NAMES: ReadonlySet<string> = new Set([...VARIABLES, ...TYPE_NAMES]);

/** The rules the library does not have: known names and functions only, one macro level, no hidden fields. */
function inspect(node: ASTNode, names: ReadonlySet<string>, inMacro: boolean, source: string): void {
  if (node.op === 'id' && !names.has(node.args)) throw new Refused(`Unknown variable: ${node.args}`, node.pos);
  if (node.op === '.' && HIDDEN.has(node.args[1])) throw hidden(node.args[1], node.pos);
  if (node.op === '[]' && node.args[1].op === 'value' && HIDDEN.has(node.args[1].args)) {
    throw hidden(node.args[1].args, node.args[1].pos);
  }
  if (node.op === 'call' && !FUNCTIONS.has(node.args[0])) throw unknownFunction(node.args[0], node.pos);
  if (node.op === 'rcall') {
    const [name, receiver, args] = node.args;
    const at = Math.max(source.indexOf(name, receiver.end), node.pos); // the node itself begins at its receiver
    if (isMacro(node)) {
      if (inMacro) throw new Refused(`${name}() cannot be used inside another macro`, at);
      inspect(receiver, names, inMacro, source);
      const [variable, ...body] = args;
      const bound = variable?.op === 'id' ? new Set([...names, variable.args]) : names;
      for (const part of body) inspect(part, bound, true, source);
      return;
    }
    if (!FUNCTIONS.has(name)) throw unknownFunction(name, at);
  }
  for (const child of childrenOf(node)) inspect(child, names, inMacro, source);
}

const hidden = (name: unknown, at: number | null = null) => new Refused(`Field ${String(name)} cannot be read`, at);
const unknownFunction = (name: string, at: number) =>
  new Refused(
    name === 'matches' ? 'matches() is not available: use contains, startsWith or endsWith' : `Unknown function: ${name}`,
    at,
  );
const isMacro = (node: ASTNode): boolean => node.op === 'rcall' && MACROS.has(node.args[0]);
const isHas = (node: ASTNode): boolean => node.op === 'call' && node.args[0] === 'has';

function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** What the library's checker leaves on a node: applies the operator or function to operands already evaluated. */
type Handle = (a: unknown, b: unknown, c: unknown, d: unknown) => unknown;

/** These evaluate their parts and do nothing of their own. */
const FREE = new Set(['value', 'id', 'list', 'map', '||', '&&']);

/**
 * Puts our meter around every operator and function of a checked program. `handle` is no public property, so its absence refuses
 * the condition rather than running it unmetered. Source: durability R10, step and size budgets.
 */
function watch(node: ASTNode, work: Work): void {
  if (isHas(node)) return; // reads a few keys; its argument is never evaluated as such
  if (!FREE.has(node.op) && !isMacro(node)) {
    const hook = node as unknown as { handle?: Handle };
    const { handle } = hook;
    if (typeof handle !== 'function') throw new Refused(`Cannot meter ${node.op}`);
    hook.handle = (a, b, c, d) => {
      work.spend(priceOf(node, a, b, work.left));
      try {
        return bounded(handle(a, b, c, d));
      } catch (error) {
        work.spend(ERROR_WORK);
        throw error;
      }
    };
  }
  for (const child of childrenOf(node)) watch(child, work);
}

/** Macros run once per entry, so `split` and `+` may not make lists longer than the scope's own. */
function bounded(result: unknown): unknown {
  if (Array.isArray(result) && result.length > MAX_ENTRIES) throw new Refused(`A list of more than ${MAX_ENTRIES} entries`);
  return result;
}

/** Units of work of one application, before it runs. `a` and `b` are the operands; for a call `a` holds them all. */
function priceOf(node: ASTNode, a: unknown, b: unknown, limit: number): number {
  switch (node.op) {
    case '.':
    case '[]':
      if (HIDDEN.has(b)) throw hidden(b); // a name put together at run time
      return 1;
    case '!_':
    case '-_':
    case '?:':
      return 1;
    case 'call':
    case 'rcall':
      return priceOfCall(node.args[0], a as readonly unknown[], limit);
    default: {
      const each = weigh(a, limit);
      const times = node.op === 'in' && Array.isArray(b) ? b.length : 1;
      return 1 + each * times + weigh(b, limit);
    }
  }
}

function priceOfCall(name: string, operands: readonly unknown[], limit: number): number {
  const [text, other] = operands;
  let price = 1;
  for (const operand of operands) price += weigh(operand, limit);
  if (typeof text === 'string') {
    if (name === 'duration' && text.length > MAX_DURATION) throw new Refused(`A duration has at most ${MAX_DURATION} characters`);
    if (name === 'size') price += text.length / 16; // counts code points, one by one
    if (name === 'split') price += text.length; // may give one entry per character
    if (SEARCHES.has(name) && typeof other === 'string') price += (text.length * other.length) / 64;
  }
  if (name.startsWith('get') && operands.length > 1) price += TIME_ZONE_WORK;
  return price;
}

/** Work of reading a value once, all the way down; stops counting above `limit`. */
function weigh(value: unknown, limit: number): number {
  if (typeof value === 'string') return 1 + value.length / 64;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  for (const item of Object.values(value)) {
    weight += weigh(item, limit - weight);
    if (weight > limit) break;
  }
  return weight;
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
  // Control characters and lone surrogates would not survive the database.
  const line = text.slice(0, 4 * MAX_ERROR).replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ');
  return Array.from(line).slice(0, MAX_ERROR).join('').trim();
}

function positionOf(error: unknown, source: string): number | null {
  const at = error instanceof Refused ? error.at : (error as { range?: { start: number } }).range?.start;
  return typeof at === 'number' ? lengthOf(source.slice(0, at)) : null;
}

/** Length in code points, as everywhere in the API. */
const lengthOf = (text: string): number => Array.from(text).length;

import type { ASTNode } from '@marcbachmann/cel-js';

/** Variables of a condition; `steps` of an action's only. */
export const VARIABLES = ['event', 'task', 'changes', 'project', 'actor', 'forge', 'now', 'steps'] as const;
export type Variable = (typeof VARIABLES)[number];

/** Maximum entries of any list or map that a condition reads or builds. */
export const MAX_ENTRIES = 200;

/** Macros bind a name and run their body once per entry; they may be chained but not nested. */
const MACROS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/**
 * All other callable functions. An allowlist, so that a newer library cannot widen the language. Omitted on purpose: `matches` (a
 * backtracking pattern), `bind` (a macro under any receiver, doubles values), `json` (unbounded data).
 */
const FUNCTIONS = new Set(
  [
    'has size type dyn bool int uint double string timestamp duration',
    'contains startsWith endsWith indexOf lastIndexOf substring split join trim lowerAscii upperAscii',
    'getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds',
  ].flatMap((line) => line.split(' ')),
);
const TYPE_NAMES = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];
/** Never readable, not even as data: the library reads a timestamp's prototype. */
export const HIDDEN = new Set<unknown>(['__proto__', 'constructor', 'prototype']);

/** A violation of one of our rules; `at` is an offset in UTF-16 units, as in the library. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly at: number | null = null,
  ) {
    super(message);
  }
}

export const KNOWN_NAMES: ReadonlySet<string> = new Set([...VARIABLES, ...TYPE_NAMES]);

/** Checks the rules that the library lacks: known names and functions only, one macro level, no hidden fields. */
export function inspect(node: ASTNode, names: ReadonlySet<string>, inMacro: boolean, source: string): void {
  if (node.op === 'id' && !names.has(node.args)) throw new Refused(`Unknown variable: ${node.args}`, node.pos);
  if (node.op === '.' && HIDDEN.has(node.args[1])) throw hidden(node.args[1], node.pos);
  if (node.op === '[]' && node.args[1].op === 'value' && HIDDEN.has(node.args[1].args)) {
    throw hidden(node.args[1].args, node.args[1].pos);
  }
  if (node.op === 'call' && !FUNCTIONS.has(node.args[0])) throw unknownFunction(node.args[0], node.pos);
  if (node.op === 'rcall') {
    const [name, receiver, args] = node.args;
    const at = Math.max(source.indexOf(name, receiver.end), node.pos); // the node itself starts at its receiver
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
  for (const child of listChildren(node)) inspect(child, names, inMacro, source);
}

export const hidden = (name: unknown, at: number | null = null) => new Refused(`Field ${String(name)} cannot be read`, at);
const unknownFunction = (name: string, at: number) =>
  new Refused(
    name === 'matches' ? 'matches() is not available: use contains, startsWith or endsWith' : `Unknown function: ${name}`,
    at,
  );
export const isMacro = (node: ASTNode): boolean => node.op === 'rcall' && MACROS.has(node.args[0]);
export const isHas = (node: ASTNode): boolean => node.op === 'call' && node.args[0] === 'has';

export function listChildren(node: ASTNode): readonly ASTNode[] {
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

import type { ASTNode } from '@marcbachmann/cel-js';
import { listChildren, HIDDEN, hidden, isHas, isMacro, MAX_ENTRIES, Refused } from './condition-grammar.js';

/**
 * Work units per evaluation: one operator, one entry or 64 characters each, 50 to 100 ns. The limits on the source alone do not
 * bound time: `event.body.contains(event.title)` in a macro is 200 searches of any length.
 */
export const MAX_WORK = 500_000;
const ERROR_WORK = 400; // || and macros catch errors, and creating one costs 10 to 40 µs
const TIME_ZONE_WORK = 1_000; // date formatting with a zone, 60 µs
/** The library parses a duration with a pattern that is cubic in the digits: 1,000 of them take a third of a second. */
const MAX_DURATION = 32; // characters
/** Substring searches; worst case is text length times pattern length. */
const SEARCHES = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

/** One shared instance: an exhausted evaluation must not pay for stack traces. */
export const EXHAUSTED = new Refused('The condition exceeds the evaluation limit for this event');

export class Work {
  left = 0;

  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw EXHAUSTED;
  }
}

/** Set on a node by the library's checker: applies the operator or function to evaluated operands. */
type Handle = (a: unknown, b: unknown, c: unknown, d: unknown) => unknown;

/** These only evaluate their parts, at no cost of their own. */
const FREE = new Set(['value', 'id', 'list', 'map', '||', '&&']);

/**
 * Wraps every operator and function of a checked program with our meter. `handle` is not a public property; if it is absent, the
 * condition is rejected rather than run unmetered.
 */
export function watch(node: ASTNode, work: Work): void {
  if (isHas(node)) return; // reads a few keys; its argument is never evaluated
  if (!FREE.has(node.op) && !isMacro(node)) {
    const hook = node as unknown as { handle?: Handle };
    const { handle } = hook;
    if (typeof handle !== 'function') throw new Refused(`Cannot meter ${node.op}`);
    hook.handle = (a, b, c, d) => {
      work.spend(computePrice(node, a, b, work.left));
      try {
        return bounded(handle(a, b, c, d));
      } catch (error) {
        work.spend(ERROR_WORK);
        throw error;
      }
    };
  }
  for (const child of listChildren(node)) watch(child, work);
}

/** Macros run once per entry, so `split` and `+` must not create lists longer than the scope's own. */
function bounded(result: unknown): unknown {
  if (Array.isArray(result) && result.length > MAX_ENTRIES) throw new Refused(`A list of more than ${MAX_ENTRIES} entries`);
  return result;
}

/** Returns the work units of one application before it runs. `a` and `b` are the operands; for a call, `a` holds them all. */
function computePrice(node: ASTNode, a: unknown, b: unknown, limit: number): number {
  switch (node.op) {
    case '.':
    case '[]':
      if (HIDDEN.has(b)) throw hidden(b); // a name computed at run time
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
    if (name === 'duration' && text.length > MAX_DURATION)
      throw new Refused(`A duration can have at most ${MAX_DURATION} characters`);
    if (name === 'size') price += text.length / 16; // counts each code point
    if (name === 'split') price += text.length; // may return one entry per character
    if (SEARCHES.has(name) && typeof other === 'string') price += (text.length * other.length) / 64;
  }
  if (name.startsWith('get') && operands.length > 1) price += TIME_ZONE_WORK;
  return price;
}

/** Returns the work of reading a value once, recursively; stops counting above `limit`. */
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

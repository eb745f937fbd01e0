import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, HIDDEN, hidden, isHas, isMacro, MAX_ENTRIES, Refused } from './condition-grammar.js';

/**
 * Work one evaluation may do. A unit is one operator, one entry looked at or 64 characters read, 50 to 100 ns. The limits on the
 * source do not bound time alone: `event.body.contains(event.title)` in a macro is 200 searches of any length.
 */
export const MAX_WORK = 500_000;
const ERROR_WORK = 400; // an error is caught by || and by macros, and costs 10 to 40 µs to make
const TIME_ZONE_WORK = 1_000; // date formatting with a zone, 60 µs
/** The library reads a duration with a pattern that is cubic in the digits: 1,000 of them take a third of a second. */
const MAX_DURATION = 32; // characters
/** Substring searches, worst case text times pattern. */
const SEARCHES = new Set(['contains', 'indexOf', 'lastIndexOf', 'split']);

/** Made once: an exhausted evaluation must not pay for stack traces. */
export const EXHAUSTED = new Refused('The condition needs more work on this event than one evaluation may do');

export class Work {
  left = 0;

  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw EXHAUSTED;
  }
}

/** What the library's checker leaves on a node: applies the operator or function to operands already evaluated. */
type Handle = (a: unknown, b: unknown, c: unknown, d: unknown) => unknown;

/** These evaluate their parts and do nothing of their own. */
const FREE = new Set(['value', 'id', 'list', 'map', '||', '&&']);

/**
 * Puts our meter around every operator and function of a checked program. `handle` is no public property, so its absence refuses
 * the condition rather than running it unmetered.
 */
export function watch(node: ASTNode, work: Work): void {
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

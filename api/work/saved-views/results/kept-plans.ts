import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Texts with a kept plan: each connection of the process keeps one of each, about 200 kB. */
const MAX_KEPT = 32;
/** Uses after which a text has one: a text that is used once would only take a place. */
const MIN_USES = 10;

/** The texts that have a kept plan. */
export class KeptPlans {
  readonly #names = new Map<string, string>();
  readonly #uses = new LRUCache<string, number>({ max: 500 });

  /**
   * Returns a name under which connections keep the plan of a text; empty for a text that is planned at each use. Planning takes as long as
   * a page of a view. When all places are taken, further texts are planned, so nobody can make connections keep more.
   */
  nameOf(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= MAX_KEPT) return known ?? '';
    const used = (this.#uses.get(text) ?? 0) + 1;
    if (used < MIN_USES) {
      this.#uses.set(text, used);
      return '';
    }
    this.#uses.delete(text);
    const name = `view_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    this.#names.set(text, name);
    return name;
  }
}

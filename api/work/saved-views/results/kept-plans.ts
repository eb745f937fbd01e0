import { LRUCache } from 'lru-cache';

/** Texts with a kept plan: each connection of the process keeps one of each, about 200 kB. */
const MAX_KEPT = 32;
/** Uses after which a text has one: a text that is used once would only take a place. */
const MIN_USES = 10;

/** The texts that have a kept plan: those used last, so that no tenant can fill the places for good. */
export class KeptPlans {
  readonly #places = new LRUCache<string, number>({ max: MAX_KEPT });
  readonly #uses = new LRUCache<string, number>({ max: 500 });

  /**
   * Returns a name under which connections keep the plan of a text; empty for a text that is planned at each use. Planning takes as long as
   * a page of a view. When all places are taken, a text has the name of the one that was used longest ago, so nobody can make connections keep more.
   */
  nameOf(text: string): string {
    const known = this.#places.get(text);
    if (known !== undefined) return `view_${known}`;
    const used = (this.#uses.get(text) ?? 0) + 1;
    if (used < MIN_USES) {
      this.#uses.set(text, used);
      return '';
    }
    this.#uses.delete(text);
    const place = this.#places.size < MAX_KEPT ? this.#places.size : (this.#places.pop() ?? 0);
    this.#places.set(text, place);
    return `view_${place}`;
  }
}

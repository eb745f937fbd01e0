import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { run } from '../../../db/statement.js';
import type { AnySubscriberKind } from './subscriber.js';

/** An event's subscriber. */
export interface Pair {
  kind: string;
  subscriber_id: string;
  version: number;
}

/** Maximum number and approximate memory of cached definitions. */
const MAX_DEFINITIONS = 20_000;
const MAX_BYTES = 80 * 1024 * 1024;

const getKey = ({ kind, subscriber_id, version }: Pair): string => `${kind}:${subscriber_id}:${version}`;

/** Defers compilation to the first use, so that its time counts for the definition's team. */
type Lazy = () => object;

/**
 * Caches compiled definitions by kind, id and version. Versions are immutable, so entries never expire; the least recently used
 * go first.
 */
export class DefinitionCache {
  private readonly compiled: LRUCache<string, object>;

  constructor(
    private readonly kinds: readonly AnySubscriberKind[],
    maxBytes = MAX_BYTES,
  ) {
    this.compiled = new LRUCache({ max: MAX_DEFINITIONS, maxSize: maxBytes });
  }

  /**
   * Loads the definitions of all pairs, one statement per kind for those not cached.
   * @returns a function that returns a pair's definition, `undefined` if its version does not exist
   */
  async load(db: Knex, pairs: readonly Pair[]): Promise<(pair: Pair) => object | undefined> {
    const found = new Map<string, Lazy>();
    const missing = new Map<string, Pair>();
    for (const pair of pairs) {
      const key = getKey(pair);
      const cached = this.compiled.get(key);
      if (cached) found.set(key, () => cached);
      else missing.set(key, pair);
    }
    for (const kind of this.kinds) {
      const uncached = [...missing.values()].filter((pair) => pair.kind === kind.name);
      if (uncached.length === 0) continue;
      const values = [uncached.map((pair) => pair.subscriber_id), uncached.map((pair) => pair.version)];
      for (const row of await run<Record<string, unknown>>(db, kind.definitions, values)) {
        const { subscriber_id, version } = row as unknown as Pair;
        const key = getKey({ kind: kind.name, subscriber_id, version });
        found.set(key, () => this.compile(kind, key, row));
      }
    }
    return (pair) => found.get(getKey(pair))?.();
  }

  private compile(kind: AnySubscriberKind, key: string, row: Record<string, unknown>): object {
    const cached = this.compiled.get(key);
    if (cached) return cached;
    const { definition, bytes } = kind.compile(row);
    this.compiled.set(key, definition, { size: bytes });
    return definition;
  }
}

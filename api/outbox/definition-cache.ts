import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { run } from '../../db/statement.js';
import type { AnySubscriberKind } from './subscribers/subscriber.js';

/** An event's subscriber, as a pass takes it. */
export interface Pair {
  kind: string;
  subscriber_id: string;
  version: number;
}

/** Compiled definitions that are kept, and about how much memory they may take. */
const MAX_DEFINITIONS = 20_000;
const MAX_BYTES = 80 * 1024 * 1024;

const keyOf = ({ kind, subscriber_id, version }: Pair): string => `${kind}:${subscriber_id}:${version}`;

/** Fetched rows wait here until their first use: compiling counts for the team whose definition it is. */
type Lazy = () => object;

/**
 * Definitions of subscribers by kind, id and version. A version never changes, so nothing here is ever out of date; those that have
 * not been used for longest go first.
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
   * Definitions of all these pairs, one statement a kind for those that are not kept.
   * @returns what gives the definition of a pair: `undefined` where its version does not exist
   */
  async load(db: Knex, pairs: readonly Pair[]): Promise<(pair: Pair) => object | undefined> {
    const found = new Map<string, Lazy>();
    const missing = new Map<string, Pair>();
    for (const pair of pairs) {
      const key = keyOf(pair);
      const kept = this.compiled.get(key);
      if (kept) found.set(key, () => kept);
      else missing.set(key, pair);
    }
    for (const kind of this.kinds) {
      const wanted = [...missing.values()].filter((pair) => pair.kind === kind.name);
      if (wanted.length === 0) continue;
      const values = [wanted.map((pair) => pair.subscriber_id), wanted.map((pair) => pair.version)];
      for (const row of await run<Record<string, unknown>>(db, kind.definitions, values)) {
        const { subscriber_id, version } = row as unknown as Pair;
        const key = keyOf({ kind: kind.name, subscriber_id, version });
        found.set(key, () => this.compile(kind, key, row));
      }
    }
    return (pair) => found.get(keyOf(pair))?.();
  }

  private compile(kind: AnySubscriberKind, key: string, row: Record<string, unknown>): object {
    const kept = this.compiled.get(key);
    if (kept) return kept;
    const { definition, bytes } = kind.compile(row);
    this.compiled.set(key, definition, { size: bytes });
    return definition;
  }
}

import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { run } from '../../../../db/statement.js';
import { bodiesStatement } from './claim.sql.js';

/** Characters of all kept texts together. */
const MAX_KEPT = 8 * 1024 * 1024;

/** What is sent of an event, the exact text that is signed. */
export interface EventBody extends Record<string, unknown> {
  event_id: string;
  body: string;
}

/** Texts of events, each read once for all endpoints and attempts while it is kept. A text never changes. */
export class EventBodies {
  private readonly kept = new LRUCache<string, string>({ maxSize: MAX_KEPT, sizeCalculation: ({ length }) => length + 1 });

  keep(events: readonly EventBody[]): void {
    for (const { event_id, body } of events) this.kept.set(event_id, body);
  }

  /** Returns the texts of events by their ids. Absent: the event has been deleted after its time. */
  async read(db: Knex, eventIds: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const missing = new Set<string>();
    for (const id of eventIds) {
      const body = this.kept.get(id);
      if (body === undefined) missing.add(id);
      else found.set(id, body);
    }
    if (missing.size === 0) return found;
    const ids = [...missing].toSorted();
    const read = await run<EventBody>(db, bodiesStatement, [ids, ids[0], ids.at(-1)]);
    this.keep(read);
    for (const { event_id, body } of read) found.set(event_id, body);
    return found;
  }
}

import type { Knex } from 'knex';
import type { Logger } from '../../api/platform/telemetry/log.js';
import { createIndexer } from '../../api/work/search/indexer.js';
import { type Loop, startLoop } from './loop.js';

const POLL_MS = 1_000;

/** Starts the loop that indexes marked items for search, on a pool of its own, which ends with it. */
export function startIndexer(db: Knex, log: Logger): Loop {
  const loop = startLoop('search', createIndexer(db), POLL_MS, log);
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop();
      await db.destroy();
    },
  };
}

import { defineStatement, run } from '../../../../db/statement.js';
import type { Services } from '../../../platform/context.js';
import { fileStore } from './store/file-store.js';
import { isObjectKey } from './store/object-store.js';

/** An object this old without a row will never get one: no upload takes as long. */
const MIN_AGE_HOURS = 24;
const HOUR_MS = 3_600_000;

/** $1 = object keys. Returns those of existing files, live or in the trash, and of exports and imports. */
const statement = defineStatement({
  name: 'known_object_keys',
  text: `select object_key from files where object_key = any($1::text[])
    union all select object_key from bulk_jobs where object_key = any($1::text[])
    union all select object_key from bulk_uploads where object_key = any($1::text[])`,
});

/**
 * Removes objects without a row from the store: those of purged files, and what crashes have left. May run at any time and be repeated.
 * With an age below the duration of an upload it can remove an object whose row is about to be written.
 * @returns number of removed objects
 */
export async function sweepObjects(services: Pick<Services, 'db' | 'config'>, minAgeHours = MIN_AGE_HOURS): Promise<number> {
  const store = fileStore(services.config);
  const before = new Date(Date.now() - minAgeHours * HOUR_MS);
  let removed = await store.removeUnfinished(before);
  let after = '';
  for (let page = await store.list(after); page.length > 0; page = await store.list(after)) {
    after = page.at(-1)?.key as string;
    const old = page.filter(({ key, modifiedAt }) => modifiedAt <= before && isObjectKey(key)).map(({ key }) => key);
    const rows = await run<{ object_key: string }>(services.db, statement, [old]);
    const known = new Set(rows.map(({ object_key }) => object_key));
    for (const key of old.filter((each) => !known.has(each))) {
      await store.remove(key);
      removed += 1;
    }
  }
  return removed;
}

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approveAll, haveActedOnce, openGates } from './caller.js';
import { getUser } from './smoke.js';
import type { Report } from './report.js';
import { until } from './shell.js';
import type { Stack } from './stack.js';

const GATES = 20;

/** Restores a dump with pending gates while Temporal is newer than it, and decides them afterwards: each acts once. */
export async function checkRestore(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  const gates = await openGates(user, GATES);
  const dump = await stack.compose([
    'exec',
    '-T',
    'postgres',
    'sh',
    '-c',
    'pg_dump --username=postgres --format=custom assent | base64',
  ]);
  const file = join(stack.dir, 'restore.dump');
  writeFileSync(file, Buffer.from(dump, 'base64'));
  // Temporal goes on after the backup: these runs are in its store, and not in the dump.
  await openGates(user, GATES + 5);
  const since = Date.now();
  await stack.script('restore.sh', [file]);
  // HAProxy looks once a second.
  await until('a request that succeeds', 60, () => user.call('GET', '/api/tasks?limit=1').then(() => true));
  const seconds = Math.round((Date.now() - since) / 1_000);
  report.add('restore of a dump beside a newer Temporal', `${seconds} s`, '120 s', seconds <= 120);
  const comments = await approveAll(user, gates, stack);
  const once = haveActedOnce(comments, GATES);
  report.add(
    'pending gates after the restore',
    `${comments.length} of ${GATES} act${once ? ' once' : `: ${comments.join()}`}`,
    'each acts once',
    once,
  );
  rmSync(file);
}

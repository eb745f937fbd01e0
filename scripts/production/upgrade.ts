import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approveAll, haveActedOnce, openGates } from './caller.js';
import { getUser } from './smoke.js';
import { describeFailures, startLoad } from './load.js';
import type { Report } from './report.js';
import { shell, until } from './shell.js';
import type { Stack } from './stack.js';

const GATES = 50;
const REQUESTS = 5_000;
const PER_SECOND = 20;
/** A version that no release will have. */
const NEXT = '0.2.999';

/** A change of the schema in the first of its three steps, as a release has them: columns, an index, a table. */
const MIGRATION = `alter table tasks add column trial text;
create index tasks_trial on tasks (trial) where trial is not null;
alter table automation_runs add column trial integer not null default 0;
create table trials (trial_id uuid primary key default uuidv7());
`;

/** Replaces a text of a file by another. @throws Error if the file has no such text */
const edit = (file: string, from: RegExp, to: string): void => {
  const text = readFileSync(file, 'utf8');
  if (!from.test(text)) throw new Error(`${file} has no ${from.source}`);
  writeFileSync(file, text.replace(from, to));
};

/** Turns the checkout of the installation into the next version: another number and a migration more. */
function writeNextVersion({ dir }: Stack): void {
  const migrations = join(dir, 'db', 'migrations');
  writeFileSync(join(migrations, '9000_trial.sql'), MIGRATION);
  edit(join(migrations, 'index.ts'), /(MIGRATIONS: [^{]*\{[^}]*)\}/, "$1  '9000_trial': sqlMigration('9000_trial.sql'),\n}");
  edit(join(dir, 'db', 'schema', 'check-schema.ts'), /VERSION = '[\d.]+'/, `VERSION = '${NEXT}'`);
  edit(join(dir, '.env'), /$/, `ASSENT_VERSION=${NEXT}\n`);
}

/** Lines of the workers' logs that tell of a history that the code does not follow. */
async function countReplayErrors(stack: Stack): Promise<number> {
  const logs = await stack.compose(['logs', '--no-color', 'worker']);
  return logs.split('\n').filter((line) => /nondeterminis|TMPRL1100/i.test(line)).length;
}

/** Upgrades under load with pending gates, then decides them: no request fails, no history breaks, each gate acts once. */
export async function checkUpgrade(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  const gates = await openGates(user, GATES);
  writeNextVersion(stack);
  const load = startLoad(stack.url, user, PER_SECOND);
  const since = Date.now();
  const printed = await stack.script('upgrade.sh');
  const seconds = Math.round((Date.now() - since) / 1_000);
  for (const line of printed
    .trim()
    .split('\n')
    .filter((each) => each.startsWith('upgrade:')))
    report.say(line);
  await until(`${REQUESTS} requests`, 600, () => Promise.resolve(load.sent() >= REQUESTS));
  const result = await load.stop();
  const failed = Object.values(result.failed).reduce((sum, count) => sum + count, 0);
  report.add(
    `requests failed during an upgrade of ${seconds} s with ${PER_SECOND} requests/s`,
    `${describeFailures(result)} of ${result.sent}`,
    '0 of 5,000',
    failed === 0,
  );
  const titles = new Set(await stack.sql("select title from tasks where title like 'load %'"));
  const lost = result.created.filter((title) => !titles.has(title)).length;
  report.add('acknowledged writes lost in the upgrade', `${lost} of ${result.created.length}`, '0', lost === 0);
  const images = await shell(
    [
      ...stack.engine.docker,
      'inspect',
      '--format',
      '{{.Config.Image}}',
      ...(await stack.containers('api')),
      ...(await stack.containers('worker')),
    ],
    { env: stack.engine.env },
  );
  const isNext = images
    .trim()
    .split('\n')
    .every((image) => image.endsWith(NEXT));
  report.add('replicas of the new version', isNext ? 'all' : images.trim().replaceAll('\n', ', '), 'all', isNext);
  const comments = await approveAll(user, gates, stack);
  const once = haveActedOnce(comments, GATES);
  report.add(`${GATES} gates opened before the upgrade`, once ? 'each acts once' : comments.join(), 'each acts once', once);
  const errors = await countReplayErrors(stack);
  report.add('errors of replay', String(errors), '0', errors === 0);
}

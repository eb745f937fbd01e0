import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../db/schema/check-schema.js';
import { approveAll, haveActedOnce, openGates, type User } from './caller.js';
import { getUser } from './smoke.js';
import { countLost, describeFailures, startLoad } from './load.js';
import { beginGates } from './pending/gates.js';
import { planImport } from './pending/import.js';
import { beginJobs } from './pending/jobs.js';
import type { Pending } from './pending/pending.js';
import { beginPlans } from './pending/plans.js';
import type { Report } from './report.js';
import { shell, until } from './shell.js';
import type { Stack } from './stack.js';

const GATES = 50;
const PLANS = 10;
const JOBS = 5;
/** Tasks: enough that they are not all written when the workers are replaced. */
const IMPORTED = 60_000;
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

/** Upgrades under load. Adds what became of the requests. */
async function upgradeUnderLoad(stack: Stack, report: Report, user: User, pending: readonly Pending[]): Promise<void> {
  const load = startLoad(stack.url, user, PER_SECOND);
  const since = Date.now();
  const beginOthers = async (): Promise<void> => {
    await until('the new schema', 600, async () => (await stack.sql("select to_regclass('trials') is not null"))[0] === 't');
    for (const { begin } of pending) await begin?.();
  };
  const [printed] = await Promise.all([stack.script('upgrade.sh'), beginOthers()]);
  const seconds = Math.round((Date.now() - since) / 1_000);
  for (const line of printed.split('\n').filter((each) => each.startsWith('upgrade:'))) report.say(line);
  await until(`${REQUESTS} requests`, 600, () => Promise.resolve(load.sent() >= REQUESTS));
  const result = await load.stop();
  report.add(
    `requests failed during an upgrade of ${seconds} s with ${PER_SECOND} requests/s`,
    `${describeFailures(result)} of ${result.sent}`,
    '0 of 5,000',
    Object.keys(result.failed).length === 0,
  );
  const lost = await countLost(stack, result.created);
  report.add('acknowledged writes lost in the upgrade', `${lost} of ${result.created.length}`, '0', lost === 0);
}

/** Returns a property of each container of some services. */
async function inspect(stack: Stack, property: string, ...services: string[]): Promise<string[]> {
  const ids = await Promise.all(services.map((service) => stack.containers(service)));
  const command = [...stack.engine.docker, 'inspect', '--format', `{{${property}}}`, ...ids.flat()];
  return (await shell(command, { env: stack.engine.env })).trim().split('\n');
}

/** Returns to the old version on the new schema, as docs/operate/upgrade.md tells it. */
async function goBack(stack: Stack, report: Report, user: User): Promise<void> {
  const gates = await openGates(user, 1);
  edit(join(stack.dir, '.env'), /ASSENT_VERSION=0\.2\.999/, `ASSENT_VERSION=${VERSION}`);
  const since = Date.now();
  await stack.compose(['up', '--detach', '--wait', 'api', 'worker']);
  const seconds = Math.round((Date.now() - since) / 1_000);
  const images = await inspect(stack, '.Config.Image', 'api', 'worker');
  const isOld = images.every((image) => image.endsWith(`:${VERSION}`));
  const once = haveActedOnce(await approveAll(user, gates, stack), 1);
  report.add('return to the old version', `${seconds} s${isOld ? '' : `, ${images.join()}`}`, '120 s', isOld && seconds <= 120);
  report.add('a gate opened by the new version, after the return', once ? 'acts once' : 'does not act once', 'acts once', once);
}

/**
 * Upgrades under load with gates, plans, jobs and an import that have begun, and ends them afterwards: no request fails, no history breaks,
 * nothing is lost or acts twice.
 */
export async function checkUpgrade(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  // The APIs follow the workers. Podman adds the name of the zone to its offset.
  const replacedAt = async () => (await inspect(stack, '.State.StartedAt', 'api')).toSorted()[0]?.replace(/ UTC$/, '') ?? '';
  const pending = [
    await beginGates(user, stack, GATES),
    await beginPlans(user, stack, PLANS),
    await beginJobs(user, stack, JOBS),
    planImport(user, stack, IMPORTED, replacedAt),
  ];
  writeNextVersion(stack);
  await upgradeUnderLoad(stack, report, user, pending);
  const images = await inspect(stack, '.Config.Image', 'api', 'worker');
  const isNext = images.every((image) => image.endsWith(NEXT));
  report.add('replicas of the new version', isNext ? 'all' : images.join(), 'all', isNext);
  for (const { what, goal, settle } of pending) {
    const { found, holds } = await settle();
    report.add(what, found, goal, holds);
  }
  const errors = await countReplayErrors(stack);
  report.add('errors of replay', String(errors), '0', errors === 0);
  await goBack(stack, report, user);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { approveAll, haveActedOnce, openGates } from './caller.js';
import { addComposeFile } from './compose-file.js';
import { countLost, startLoad } from './load.js';
import type { Report } from './report.js';
import { getUser } from './smoke.js';
import type { Stack } from './stack.js';

const GATES = 20;
const LOAD_PER_SECOND = 20;
const NOW = "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00')";
const PROJECT = 'deleted by mistake';

/** Verifies the audit chain. Returns its output; a signed checkpoint that is newer than the database is expected after a restore. */
const verifyAudit = (stack: Stack): Promise<string> =>
  stack.compose(['run', '--rm', '-T', 'tools', 'dist/scripts/audit-verify.js']).then(
    () => 'intact',
    (error: Error) => error.message,
  );

/** Restores to a moment that the first restore has undone: it is in a timeline of its own. */
async function restoreAgain(stack: Stack, report: Report, moment: string, titles: readonly string[]): Promise<void> {
  await stack.script('archive.sh', ['restore', moment]);
  const lost = await countLost(stack, titles);
  report.add(
    'a second restore, to a moment that the first had undone: writes before it and lost',
    `${lost} of ${titles.length}`,
    '0',
    lost === 0 && titles.length > 0,
  );
}

/**
 * Archives the log, makes a base backup, writes on, notes a moment, does harm, and restores to the moment: what was acknowledged before it is
 * there, nothing after it, gates that were open then act once, and the audit chain verifies.
 */
export async function checkPitr(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  await addComposeFile(stack, 'compose.archive.yml');
  await stack.script('archive.sh', ['backup']);
  const { project_id: projectId } = await user.call<{ project_id: string }>('POST', '/api/projects', {
    name: PROJECT,
    team_id: user.teamId,
  });
  const gates = await openGates(user, GATES);
  const before = startLoad(stack.url, user, LOAD_PER_SECOND);
  await sleep(5_000);
  const { created } = await before.stop();
  const [moment = ''] = await stack.sql(NOW);
  // What should not have happened. Runs start and gates are decided meanwhile, too.
  await user.call('DELETE', `/api/projects/${projectId}`);
  const after = startLoad(stack.url, user, LOAD_PER_SECOND);
  await openGates(user, GATES + 5);
  await sleep(3_000);
  const { created: undone } = await after.stop();
  const [later = ''] = await stack.sql(NOW);
  // The moment after it is told apart by whole seconds.
  await sleep(2_000);
  const since = Date.now();
  const printed = await stack.script('archive.sh', ['restore', moment]);
  const seconds = Math.round((Date.now() - since) / 1_000);
  for (const line of printed.split('\n').filter((each) => each.startsWith('archive:'))) report.say(line);
  report.add('restore to a moment, with the stop and the start of everything', `${seconds} s`, '120 s', seconds <= 120);
  const lost = await countLost(stack, created);
  const kept = undone.length - (await countLost(stack, undone));
  report.add(
    'writes acknowledged before the moment and lost',
    `${lost} of ${created.length}`,
    '0',
    lost === 0 && created.length > 0,
  );
  report.add('writes after the moment that are there', `${kept} of ${undone.length}`, '0', kept === 0 && undone.length > 0);
  const { name } = await user.call<{ name: string }>('GET', `/api/projects/${projectId}`).catch(() => ({ name: 'gone' }));
  report.add('the project that was deleted after it', name, PROJECT, name === PROJECT);
  const comments = await approveAll(user, gates, stack);
  const once = haveActedOnce(comments, GATES);
  report.add(`${GATES} gates open at the moment`, once ? 'each acts once' : comments.join(), 'each acts once', once);
  const audit = await verifyAudit(stack);
  report.add('audit chain after the restore', audit.slice(-300), 'intact', audit === 'intact');
  await restoreAgain(stack, report, later, [...created, ...undone]);
  await stack.script('archive.sh', ['backup']);
  await stack.script('archive.sh', ['prune', '1']);
  const [archived] = await stack.sql("select count(*) from pg_ls_dir('/archive/base')");
  report.add('base backups after `prune 1`', String(archived), '1', archived === '1');
}

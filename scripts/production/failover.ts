import type { User } from './caller.js';
import { getUser } from './smoke.js';
import { countLost, describeFailures, startLoad } from './load.js';
import type { Report } from './report.js';
import { shell, until } from './shell.js';
import type { Stack } from './stack.js';

const LOAD_PER_SECOND = 20;

/** Titles of acknowledged writes of the load that a service's database lacks. */
async function findLost(stack: Stack, created: readonly string[], service: string): Promise<string> {
  return `${await countLost(stack, created, service)} of ${created.length}`;
}

/** Waits until requests succeed. Returns the seconds since a moment. */
async function waitForSuccess({ url }: Stack, { token }: User, since: number): Promise<number> {
  await until(
    'a request that succeeds',
    60,
    async () => (await fetch(`${url}/api/tasks?limit=1`, { headers: { authorization: `Bearer ${token}` } })).ok,
  );
  return (Date.now() - since) / 1_000;
}

const listProcesses = async (stack: Stack): Promise<string> =>
  [...(await stack.containers('api')), ...(await stack.containers('worker'))].join();

/** Kills the primary under load, promotes the synchronous replica, and looks for every acknowledged write. */
async function checkPromotion(stack: Stack, report: Report, user: User): Promise<void> {
  const run = (...args: string[]): Promise<string> => shell([...stack.engine.docker, ...args], { env: stack.engine.env });
  const before = await listProcesses(stack);
  const load = startLoad(stack.url, user, LOAD_PER_SECOND);
  await until(
    'some writes',
    30,
    async () => (await stack.sql("select count(*) from tasks where title like 'load %'"))[0] !== '0',
  );
  const [primary = ''] = await stack.containers('postgres');
  const [promoted, recovered] = await stack.engine.alone(async () => {
    const since = Date.now();
    await run('kill', primary);
    await stack.script('replica.sh', ['promote']);
    return [(Date.now() - since) / 1_000, await waitForSuccess(stack, user, since)] as const;
  });
  await until('a write after the failover', 30, async () => {
    await user.call('POST', '/api/tasks', { title: 'after the failover', project_id: user.projectId });
    return true;
  });
  const result = await load.stop();
  const lost = await findLost(stack, result.created, 'postgres-replica');
  report.add(
    'failover to the synchronous replica',
    `${recovered.toFixed(1)} s (promotion ${promoted.toFixed(1)} s), failed ${describeFailures(result)} of ${result.sent}`,
    '5 s',
    recovered <= 5,
  );
  report.add('acknowledged writes lost in the failover', lost, '0', lost.startsWith('0 of ') && result.created.length > 0);
  // The old primary takes no writes, when something starts it again.
  await run('start', primary);
  const [state] = (await until('the old primary', 30, () => stack.sql('select pg_is_in_recovery()', 'postgres')))[0];
  report.add('the old primary, started again', state === 't' ? 'a standby' : 'takes writes', 'a standby', state === 't');
  await run('stop', primary);
  const after = await listProcesses(stack);
  const isSame = before === after;
  report.add('API and worker restarted for the failover', isSame ? 'none' : 'some', 'none', isSame);
}

/** Makes `postgres` the primary again under load: what docs/operate/failover.md says for the time after a promotion. */
async function checkWayBack(stack: Stack, report: Report, user: User): Promise<void> {
  const load = startLoad(stack.url, user, LOAD_PER_SECOND);
  await until('some requests', 30, () => Promise.resolve(load.sent() > LOAD_PER_SECOND));
  const since = Date.now();
  await stack.script('replica.sh', ['back']);
  const seconds = (Date.now() - since) / 1_000;
  await waitForSuccess(stack, user, since);
  const result = await load.stop();
  const lost = await findLost(stack, result.created, 'postgres');
  report.add(
    'the way back: postgres rebuilt, primary again, replica rebuilt',
    `${seconds.toFixed(1)} s, no success for ${(result.longestGapMs / 1_000).toFixed(1)} s, failed ${describeFailures(result)} of ${result.sent}`,
    'no success for 10 s at most',
    result.longestGapMs <= 10_000,
  );
  report.add('acknowledged writes lost on the way back', lost, '0', lost.startsWith('0 of ') && result.created.length > 0);
  const [state] = await stack.sql("select sync_state from pg_stat_replication where application_name = 'replica'");
  report.add('the replica after it', String(state), 'sync', state === 'sync');
}

/** Fails over to the synchronous replica and goes back, under load. */
export async function checkFailover(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  await stack.script('replica.sh', ['start']);
  await checkPromotion(stack, report, user);
  await checkWayBack(stack, report, user);
}

import { getUser } from './smoke.js';
import { describeFailures, startLoad } from './load.js';
import type { Report } from './report.js';
import { shell, until } from './shell.js';
import type { Stack } from './stack.js';

const LOAD_PER_SECOND = 20;

/** Kills the primary under load, promotes the synchronous replica, and looks for every acknowledged write. */
export async function checkFailover(stack: Stack, report: Report): Promise<void> {
  const user = await getUser(stack);
  await stack.script('replica.sh', ['start']);
  const before = [...(await stack.containers('api')), ...(await stack.containers('worker'))];
  const load = startLoad(stack.url, user, LOAD_PER_SECOND);
  await until(
    'some writes',
    30,
    async () => (await stack.sql("select count(*) from tasks where title like 'load %'"))[0] !== '0',
  );
  const [primary = ''] = await stack.containers('postgres');
  const since = Date.now();
  await shell([...stack.engine.docker, 'kill', primary], { env: stack.engine.env });
  await stack.script('replica.sh', ['promote']);
  const promoted = (Date.now() - since) / 1_000;
  await until(
    'a request that succeeds',
    60,
    async () => (await fetch(`${stack.url}/api/tasks?limit=1`, { headers: { authorization: `Bearer ${user.token}` } })).ok,
  );
  const recovered = (Date.now() - since) / 1_000;
  await until('a write after the failover', 30, async () => {
    await user.call('POST', '/api/tasks', { title: 'after the failover', project_id: user.projectId });
    return true;
  });
  const result = await load.stop();
  const rows = new Set(await stack.sql("select title from tasks where title like 'load %'", 'postgres-replica'));
  const lost = result.created.filter((title) => !rows.has(title)).length;
  const after = [...(await stack.containers('api')), ...(await stack.containers('worker'))];
  const isSame = before.join() === after.join();
  report.add(
    'failover to the synchronous replica',
    `${recovered.toFixed(1)} s (promotion ${promoted.toFixed(1)} s), failed ${describeFailures(result)} of ${result.sent}`,
    '5 s',
    recovered <= 5,
  );
  report.add(
    'acknowledged writes lost in the failover',
    `${lost} of ${result.created.length}`,
    '0',
    lost === 0 && result.created.length > 0,
  );
  report.add('API and worker restarted for the failover', isSame ? 'none' : 'some', 'none', isSame);
}

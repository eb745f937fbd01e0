import { Report } from '../production/report.js';
import { signIn } from '../production/caller.js';
import { prepareEngine } from '../production/engine.js';
import { shell } from '../production/shell.js';
import { createStack, findStack } from '../production/stack.js';
import type { Verdict } from '../chaos/invariants.js';
import { QUEUES } from './sample.js';
import type { Target } from './target.js';

const SERVICES = ['api', 'worker', 'temporal', 'postgres'];
const REST_MS = 240_000;

const toVerdict = (name: string, words: string, violations: string[]): Verdict => ({ name, words, violations, skipped: null });

/**
 * Starts the installation of `npm run production`, or finds the one that an earlier piece has kept. Its containers restart what is
 * killed. Needs root on the machine of the engine, whose /proc has the processes.
 * @throws Error where there is no engine
 */
export async function startContainers(isContinued: boolean): Promise<Target> {
  const engine = await prepareEngine();
  const stack = isContinued ? findStack(engine) : await createStack(engine, new Report());
  if (isContinued) await stack.compose(['up', '--detach', '--wait']);
  const user = await signIn(stack);
  const query: Target['query'] = async (text) => {
    const lines = await stack.sql(`select row_to_json(found) from (${text}) found;`);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const inspect = async (id: string): Promise<number> =>
    Number(await shell([...engine.docker, 'inspect', '--format', '{{.State.Pid}}', id], { env: engine.env }));
  const pids = async (): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const service of SERVICES)
      for (const [at, id] of (await stack.containers(service)).entries()) {
        const pid = await inspect(id).catch(() => 0);
        if (pid > 0) found[at === 0 ? service : `${service}-${at + 1}`] = pid;
      }
    return found;
  };
  const left = Object.keys(QUEUES).map((name) => `exists (select from ${name})`);
  return {
    parts: Object.keys(await pids()),
    pids,
    query,
    base: () => stack.url,
    token: user.token,
    projectId: user.projectId,
    async finish() {
      let isLeft: unknown = true;
      for (const since = Date.now(); isLeft && Date.now() - since < REST_MS; )
        isLeft = (await query(`select ${left.join(' or ')} as left`).catch(() => []))[0]?.['left'] ?? true;
      const audit = await stack.compose(['run', '--rm', '-T', 'tools', 'dist/scripts/audit-verify.js']).then(
        () => [],
        (error: Error) => [error.message],
      );
      return [
        toVerdict('all_at_rest', 'Everything came to rest', isLeft ? ['rows are left in a queue'] : []),
        toVerdict('chain_intact', 'Every audit chain verifies', audit),
      ];
    },
    async stop(keep) {
      if (!keep) await stack.remove();
      engine.stop();
    },
  };
}

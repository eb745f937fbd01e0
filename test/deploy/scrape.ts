import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { startApiProcess } from '../degrade/api-process.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { untilRunIs } from '../support/worker.js';
import { startWorkerProcess } from '../support/worker-process.js';

/** What Prometheus would read of an installation in which something has happened. */
export interface Scrapes {
  api: string;
  worker: string;
  close: () => Promise<void>;
}

const scrape = async (base: string): Promise<string> => (await fetch(`${base}/metrics`)).text();

/** Names in a scrape under which there are values. */
export const namesIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{[^\n]*\})? \S+$/gm)].map(([, name]) => name as string));

/** The API and the worker as they ship, over the app's database, after one run of an automation. */
export async function startScraped(app: TestApp): Promise<Scrapes> {
  const port = String(await anyFreePort());
  const [api, worker] = await Promise.all([startApiProcess(app), startWorkerProcess(app, { WORKER_METRICS_PORT: port })]);
  const team = await buildTeam(app);
  const automation = await buildAutomation(app, team, { actions: [comment('done')] });
  await buildTask(app, team, await buildProject(app, team));
  await untilRunIs(app, automation, 'succeeded');
  await fetch(`${api.url}/api/auth/me`);
  return {
    api: await scrape(api.opsUrl),
    worker: await scrape(`http://127.0.0.1:${port}`),
    async close() {
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.kill('SIGTERM');
      await Promise.all([api.stop(), ended]);
    },
  };
}

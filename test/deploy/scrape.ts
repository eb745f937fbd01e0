import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { startApiProcess } from '../resilience/api-process.js';
import { buildAutomation, comment } from '../factories/automations.js';
import { buildProject, buildTask, buildTeam } from '../factories/people.js';
import type { TestApp } from '../support/app.js';
import { until, untilRunIs } from '../support/worker.js';
import { startWorkerProcess } from '../support/worker-process.js';

/** Returns the metrics that Prometheus would read from an installation in use. */
export interface Scrapes {
  api: string;
  worker: string;
  close: () => Promise<void>;
}

/** A scrape once the first round of the gauges is through: on a busy machine an early one has a part of them. */
const scrape = (base: string): Promise<string> =>
  until(async () => {
    const text = await (await fetch(`${base}/metrics`)).text();
    return /^assent_database_gauges_success 1$/m.test(text) && text;
  });

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

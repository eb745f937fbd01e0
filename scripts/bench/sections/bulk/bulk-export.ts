import { Agent } from 'node:http';
import { SOURCES } from '../../../../api/bulk/export/sources.sql.js';
import { metered, readResident } from '../../process-table.js';
import type { Result, Section } from '../../report.js';
import { bearer, expect, send } from '../../send.js';
import { median } from '../../statistics.js';
import { withSides } from '../requests-section.js';

/** Exports of 10,000 tasks before the memory is read. */
const SMALL_ROUNDS = 5;
const WARM_UPS = 1;
const ROUNDS = 6;
const MIB = 2 ** 20;
const SAMPLE_MS = 20;

/** The lines of the same tasks as COPY writes them, without a program that takes them. */
const { line, from } = SOURCES.tasks;
const FLOOR = `copy (select ${line} from ${from}) to '/dev/null'`;

/** Rows a CPU-second of one export. */
interface Spent {
  rows: number;
  app: number;
  postgres: number;
  ms: number;
}
const computeRate = ({ rows, app, postgres }: Spent): number => rows / (app + postgres);

/** What is reported of the rounds of both sides; `grown` is in MiB. */
function toResult(ours: Spent[], theirs: Spent[], grown: number): Result {
  const micros = (of: (spent: Spent) => number, side: Spent[]) =>
    (median(side.map((each) => of(each) / each.rows)) * 1e6).toFixed(1);
  const ratio = median(ours.map((each, at) => computeRate(each) / computeRate(theirs[at] as Spent)));
  return {
    name: `POST /api/bulk/export of ${ours[0]?.rows.toLocaleString('en')} tasks to NDJSON`,
    goals: [
      { what: 'of the rows a CPU-second of COPY', value: ratio, goal: 0.6, better: 'more', unit: '' },
      {
        what: 'memory of the worker, over that after exports of 10,000 tasks',
        value: grown,
        goal: 64,
        better: 'less',
        unit: ' MiB more',
      },
    ],
    notes: [
      `product ${median(ours.map(computeRate)).toFixed(0)} rows a CPU-second: ${micros(({ postgres }) => postgres, ours)} us of PostgreSQL + ${micros(({ app }) => app, ours)} us of the worker; ${median(ours.map(({ ms }) => ms)).toFixed(0)} ms`,
      `baseline ${median(theirs.map(computeRate)).toFixed(0)} rows a CPU-second: ${micros(({ postgres }) => postgres, theirs)} us of PostgreSQL`,
    ],
  };
}

/** Exports all tasks of the team to NDJSON by the worker, and in turn copies the same JSON with PostgreSQL alone. */
export const bulkExportSection: Section = async (servers, world) => {
  await servers.startTemporal();
  return withSides(servers, async ({ product }) => {
    const worker = await servers.startWorker();
    const over = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { ...bearer(world), 'Content-Type': 'application/json' };
    const floor = FLOOR.replaceAll('$1', `'${world.teamId}'`).replaceAll('$2', 'null');
    const exportTasks = async (only: object = {}): Promise<void> => {
      const body = JSON.stringify({ team_id: world.teamId, format: 'ndjson', entities: ['tasks'], ...only });
      await expect(202, send(product.port, '/api/bulk/export', headers, body, over));
      for (let open = true; open; ) {
        await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
        const [row] = await servers.db('bulk_jobs').whereIn('status', ['queued', 'running', 'failed']).select('status');
        if (row?.status === 'failed') throw new Error('The export failed');
        open = row !== undefined;
      }
    };
    const ours: Spent[] = [];
    const theirs: Spent[] = [];
    // Code is loaded and the young generation has its size: what grows now grows with the rows.
    for (let round = 0; round < SMALL_ROUNDS; round += 1) await exportTasks({ project_ids: world.projects.slice(0, 2) });
    const before = readResident(worker.pid);
    let peak = before;
    const sampler = setInterval(() => {
      peak = Math.max(peak, readResident(worker.pid));
    }, SAMPLE_MS);
    for (let round = 0; round < WARM_UPS + ROUNDS; round += 1) {
      const started = performance.now();
      const { cpu } = await metered({ app: worker.cpu, postgres: servers.postgresCpu }, () => exportTasks());
      const ms = performance.now() - started;
      const copy = await metered({ postgres: servers.postgresCpu }, () => servers.db.raw(floor));
      if (round < WARM_UPS) continue;
      const { rows } = (await servers.db('bulk_jobs').orderBy('created_at', 'desc').first('processed as rows')) as {
        rows: number;
      };
      ours.push({ rows, ...cpu, ms });
      theirs.push({ rows, app: 0, postgres: copy.cpu.postgres, ms: 0 });
    }
    clearInterval(sampler);
    over.destroy();
    await worker.stop();
    await servers.db('bulk_jobs').delete();
    return [toResult(ours, theirs, (peak - before) / MIB)];
  });
};

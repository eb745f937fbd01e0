import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { drive, type Load, type Source } from '../../load.js';
import { quiet } from '../../quiet.js';
import type { Result, Section } from '../../report.js';
import { taskSources } from '../../requests.js';
import { addProject, seed, type World } from '../../seed.js';
import { bearer, expect, send } from '../../send.js';
import type { Servers } from '../../servers.js';
import { median, quantile } from '../../statistics.js';
import { withSides } from '../requests-section.js';

const TASKS = 100_000;
const BULK = 500;
const LOOK_MS = 20;
/** Connections of the other team: fewer than would keep the machine busy alone. */
const OTHERS = 2;

const item = (project: string) => ({
  title: 'Check the pressure of tank 2',
  project_id: project,
  priority: 'high',
  tags: ['hardware', 'pad-b'],
});

/** Sends the lines of an import as an upload; returns its id. */
function upload(port: number, world: World, bytes: Buffer): Promise<string> {
  const headers = { ...bearer(world), 'Content-Type': 'application/octet-stream', 'Content-Length': bytes.length };
  return new Promise((resolve, reject) => {
    const path = `/api/bulk/uploads?team_id=${world.teamId}`;
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve((JSON.parse(Buffer.concat(chunks).toString()) as { file_id: string }).file_id));
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

/** Waits for the end of all jobs; returns the milliseconds since `started`. @throws Error for one that failed */
async function jobsEnded({ db }: Servers, started: number): Promise<number> {
  for (;;) {
    const rows = await db('bulk_jobs').select<{ status: string; failed: number }[]>('status', 'failed');
    if (rows.some(({ status, failed }) => status === 'failed' || failed > 0)) throw new Error('The import failed');
    if (rows.every(({ status }) => status === 'succeeded')) return performance.now() - started;
    await sleep(LOOK_MS);
  }
}

/** Reads and changes tasks of another team, by turns. */
function othersSource(world: World): Source {
  const { get, update } = taskSources(world);
  let nth = 0;
  return { expect: 200, next: (connection) => (++nth % 2 === 0 ? get : update).next(connection) };
}

const p99 = ({ latencies }: Load): number => quantile(latencies, 0.99);

/** One round: tasks a second, and the p99 of another team in ms. */
interface Turn {
  bulk: number;
  imported: number;
  alone: number;
  beside: number;
}

function toResult(turns: readonly Turn[]): Result {
  const middle = (of: (turn: Turn) => number): number => median(turns.map(of));
  const ratio = middle(({ imported, bulk }) => imported / bulk);
  const slower = middle(({ beside, alone }) => beside / alone);
  return {
    name: `POST /api/bulk/import of ${TASKS.toLocaleString('en')} tasks`,
    goals: [
      { what: 'of the rate of bulk creation', value: ratio, goal: 0.4, better: 'more', unit: '' },
      { what: 'times the p99 of another team alone', value: slower, goal: 2, better: 'less', unit: '' },
    ],
    notes: [
      `import ${middle(({ imported }) => imported).toFixed(0)} tasks a second, bulk creation ${middle(({ bulk }) => bulk).toFixed(0)}`,
      `p99 of another team: ${middle(({ alone }) => alone).toFixed(1)} ms alone, ${middle(({ beside }) => beside).toFixed(1)} ms beside the import`,
    ],
  };
}

/** Imports 100,000 tasks by the worker, while another team reads and writes, and compares it with bulk creation and with that team alone. */
export const bulkImportSection: Section = async (servers, world, { seconds, rounds }) => {
  await servers.startTemporal();
  return withSides(servers, async ({ product }) => {
    const worker = await servers.startWorker();
    const over = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { ...bearer(world), 'Content-Type': 'application/json' };
    const project = await addProject(servers.db, world, 0);
    const body = JSON.stringify(Array.from({ length: BULK }, () => item(project)));
    const bulkRate = async (): Promise<number> => {
      const started = performance.now();
      let made = 0;
      for (; performance.now() - started < seconds * 1_000; made += BULK) {
        await expect(200, send(product.port, '/api/tasks/bulk', headers, body, over));
      }
      return made / ((performance.now() - started) / 1_000);
    };
    const line = `${JSON.stringify({ entity: 'task', ...item(project) })}\n`;
    const file_id = await upload(product.port, world, Buffer.from(line.repeat(TASKS)));
    const importTasks = async (): Promise<number> => {
      const asked = JSON.stringify({ team_id: world.teamId, format: 'ndjson', file_id });
      const started = performance.now();
      await expect(202, send(product.port, '/api/bulk/import', headers, asked, over));
      const ms = await jobsEnded(servers, started);
      await servers.db('bulk_jobs').delete();
      return (TASKS / ms) * 1_000;
    };
    const other = await seed(servers.db, 1_000, 'other');
    const source = othersSource(other);
    await drive(product.port, OTHERS, seconds, source);
    await bulkRate();
    const turns: Turn[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await quiet(servers.db);
      const bulk = await bulkRate();
      await quiet(servers.db);
      const imported = await importTasks();
      await quiet(servers.db);
      const alone = p99(await drive(product.port, OTHERS, seconds, source));
      const work = importTasks();
      const beside = p99(await drive(product.port, OTHERS, seconds, source));
      await work;
      turns.push({ bulk, imported, alone, beside });
    }
    over.destroy();
    await worker.stop();
    return [toResult(turns)];
  });
};

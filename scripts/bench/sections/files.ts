import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { metered, readResident } from '../process-table.js';
import type { Goal, Result, Section } from '../report.js';
import { bearer, expect, send } from '../send.js';
import type { Servers, Service } from '../servers.js';
import { median } from '../statistics.js';
import { withSides } from './requests-section.js';

const SIZE = 26_214_400;
const MB = SIZE / 1e6;
const AT_ONCE = 16;
const BOUNDARY = 'bench-boundary';

const FORM_TYPE = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };

/** A form with a file of the maximum size. The baseline stores the form as it is. */
function buildForm(teamId: string): Buffer {
  const part = (disposition: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;
  return Buffer.concat([
    Buffer.from(`${part('name="team_id"')}${teamId}\r\n${part('name="file"; filename="bench.bin"')}`),
    randomBytes(SIZE),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}

/** Requests of one side, timed. */
interface Side {
  service: Service;
  ms: number[];
  cpu: number[];
}

async function timed(servers: Servers, side: Side, ask: (port: number) => Promise<{ ms: number }>): Promise<void> {
  const readings = { app: side.service.cpu, postgres: servers.postgresCpu };
  const { result, cpu } = await metered(readings, () => ask(side.service.port));
  side.ms.push(result.ms);
  side.cpu.push(cpu.app + cpu.postgres);
}

const describeSide = (name: string, { ms, cpu }: Side): string =>
  `${name.padEnd(9)}${(MB / (median(ms) / 1000)).toFixed(0)} MB/s  p50 ${median(ms).toFixed(0)} ms  CPU ${(median(cpu) * 1000).toFixed(0)} ms`;

const ratioGoal = (product: Side, floor: Side): Goal => ({
  what: 'of the bare handler’s rate',
  value: median(floor.ms) / median(product.ms),
  goal: 0.7,
  better: 'more',
  unit: '',
});

/** Runs 16 requests at once. Returns their time and the peak growth of the process's memory, MB. */
async function atOnce({ pid, port }: Service, ask: (port: number, agent: Agent) => Promise<unknown>) {
  const before = readResident(pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, readResident(pid))), 5);
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const started = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, () => ask(port, agent)));
  clearInterval(watch);
  agent.destroy();
  return { ms: performance.now() - started, grown: (most - before) / 2 ** 20 };
}

/** Upload and download of 25 MB: one at a time by turns with the baseline, then 16 at once. */
export const filesSection: Section = (servers, world, { rounds }) =>
  withSides(servers, async (services) => {
    const form = buildForm(world.teamId);
    const headers = { ...bearer(world), ...FORM_TYPE };
    const put = (port: number, agent?: Agent) => expect(201, send(port, '/api/files', headers, form, agent));
    const idOn = async ({ port }: Service) => {
      const options = { method: 'POST', headers, body: form };
      return ((await (await fetch(`http://127.0.0.1:${port}/api/files`, options)).json()) as { file_id: string }).file_id;
    };
    const ids = { product: await idOn(services.product), floor: await idOn(services.floor) };
    const idAt = (port: number) => (port === services.product.port ? ids.product : ids.floor);
    const get = (port: number, agent?: Agent) =>
      expect(200, send(port, `/api/files/${idAt(port)}`, bearer(world), undefined, agent));
    const results: Result[] = [];
    for (const [name, ask] of [['POST /api/files', put] as const, ['GET /api/files/{file_id}', get] as const]) {
      const [product, floor] = [services.product, services.floor].map((service): Side => ({ service, ms: [], cpu: [] })) as [
        Side,
        Side,
      ];
      for (let i = 0; i < 2; i += 1) for (const { service } of [product, floor]) await ask(service.port);
      for (let i = 0; i < rounds * 3; i += 1) for (const side of [product, floor]) await timed(servers, side, ask);
      const many = { product: await atOnce(services.product, ask), floor: await atOnce(services.floor, ask) };
      const rate = ({ ms }: { ms: number }) => `${((MB * AT_ONCE) / (ms / 1000)).toFixed(0)} MB/s`;
      results.push({
        name: `${name}, 25 MB`,
        goals: [
          ratioGoal(product, floor),
          { what: `memory grown by with ${AT_ONCE} at once`, value: many.product.grown, goal: 20, better: 'less', unit: ' MB' },
        ],
        notes: [
          describeSide('product', product),
          describeSide('bare', floor),
          `${AT_ONCE} at once: product ${rate(many.product)}, bare ${rate(many.floor)} and ${many.floor.grown.toFixed(0)} MB more memory`,
        ],
      });
    }
    return results;
  });

import { residentOfFamily } from '../../process-table.js';
import type { Result, Section } from '../../report.js';
import { taskSources } from '../../requests.js';
import { computeFigures, type Figures, measureRound, type Round, warmUp } from '../../rounds.js';
import type { ApiService, Servers } from '../../servers.js';

/** Values of API_PROCESSES. */
const COUNTS = [1, 2] as const;
const REQUESTS = ['me', 'get', 'list', 'create'] as const;

interface Side {
  count: number;
  api: ApiService;
  rounds: Round[];
}

/** Connections to PostgreSQL of the side whose processes these are. */
async function countConnections(servers: Servers, api: ApiService): Promise<number> {
  const read = async (): Promise<number> => {
    const sql = "select count(*)::int as n from pg_stat_activity where application_name like 'assent-api%'";
    return (await servers.db.raw<{ rows: { n: number }[] }>(sql)).rows[0]?.n ?? 0;
  };
  const all = await read();
  await api.stop();
  return all - (await read());
}

const describe = ({ count }: Side, { rate, cpuApp, cpuPostgres, p50, p99, errors }: Figures): string =>
  `${count} ${count === 1 ? 'process  ' : 'processes'} ${rate.toFixed(0)} requests/s, CPU ${cpuApp.toFixed(3)} ms + PostgreSQL ${cpuPostgres.toFixed(3)} ms a request, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms${errors > 0 ? `, ${errors} ERRORS` : ''}`;

/**
 * The API in one process and in two, by turns. The load generator and PostgreSQL run on the same cores: the rate can only grow by what these
 * leave.
 */
export const processesSection: Section = async (servers, world, { connections, seconds, rounds }) => {
  const sources = taskSources(world);
  const sides: Side[] = [];
  for (const count of COUNTS) sides.push({ count, api: await servers.startApi({ API_PROCESSES: String(count) }), rounds: [] });
  const results: Result[] = [];
  for (const name of REQUESTS) {
    for (const side of sides) {
      side.rounds = [];
      await warmUp((length) => measureRound(servers, side.api, sources[name], connections, length));
    }
    for (let i = 0; i < rounds; i += 1)
      for (const side of sides) side.rounds.push(await measureRound(servers, side.api, sources[name], connections, seconds));
    const figures = sides.map((side) => computeFigures(side.rounds));
    const [one, two] = figures as [Figures, Figures];
    const ratios = `with two: ${(two.rate / one.rate).toFixed(2)} times the rate, ${((two.cpuApp + two.cpuPostgres) / (one.cpuApp + one.cpuPostgres)).toFixed(2)} times the CPU a request`;
    const notes = [...sides.map((side, i) => describe(side, figures[i] as Figures)), ratios];
    results.push({ name: `${name} by API_PROCESSES, ${connections} connections`, goals: [], notes });
  }
  const notes: string[] = [];
  for (const { count, api } of sides) {
    const memory = residentOfFamily(api.pid).map((bytes) => `${(bytes / 1e6).toFixed(0)} MB`);
    notes.push(`${count}: ${memory.join(' + ')}, ${await countConnections(servers, api)} connections to PostgreSQL`);
  }
  return [...results, { name: 'memory and connections by API_PROCESSES', goals: [], notes }];
};

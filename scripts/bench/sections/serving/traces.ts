import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readResident } from '../../process-table.js';
import type { Goal, Result, Section } from '../../report.js';
import { taskSources } from '../../requests.js';
import { computeFigures, measureRound, type Round, warmUp } from '../../rounds.js';
import type { ApiService } from '../../servers.js';

/** Shares of traces that are sent; null: without an endpoint. */
const SHARES = [null, '0.1', '1'] as const;
/** Most times the CPU without traces. */
const GOALS = { '0.1': 1.05, '1': 1.25 };

/** Takes whatever a collector takes. Its CPU is that of the benchmark, not of the product. */
async function startSink(): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

interface Side {
  share: (typeof SHARES)[number];
  api: ApiService;
  rounds: Round[];
}

function describe({ share, api, rounds }: Side, off: number): string {
  const { cpuApp, p50, errors } = computeFigures(rounds);
  const memory = (readResident(api.pid) / 1e6).toFixed(0);
  const name = share === null ? 'off' : `at ${share}`;
  const ratio = (cpuApp / off).toFixed(3);
  return `${name.padEnd(7)}${cpuApp.toFixed(3)} CPU ms a create, ${ratio} times; p50 ${p50.toFixed(2)} ms, ${memory} MB${errors > 0 ? `, ${errors} ERRORS` : ''}`;
}

/** CPU of the API for a created task: without traces, with a tenth of them, and with all. By turns, so that a disturbance affects all alike. */
export const tracesSection: Section = async (servers, world, { connections, seconds, rounds }) => {
  const source = taskSources(world).create;
  const sink = await startSink();
  const settings = (share: string) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_SAMPLER_ARG: share });
  const sides: Side[] = [];
  for (const share of SHARES)
    sides.push({ share, api: await servers.startApi(share === null ? {} : settings(share)), rounds: [] });
  for (const { api } of sides) await warmUp((length) => measureRound(servers, api, source, connections, length));
  for (let i = 0; i < rounds; i += 1) {
    for (const side of sides) side.rounds.push(await measureRound(servers, side.api, source, connections, seconds));
    // Another one begins each time: the table grows meanwhile.
    sides.push(sides.shift() as Side);
  }
  const byShare = SHARES.map((share) => sides.find((side) => side.share === share) as Side);
  const cpu = ({ rounds: own }: Side) => computeFigures(own).cpuApp;
  const off = cpu(byShare[0] as Side);
  const goals = byShare.flatMap((side): Goal[] => {
    if (side.share === null) return [];
    const what = `times the CPU without traces, at ${side.share}`;
    return [{ what, value: cpu(side) / off, goal: GOALS[side.share], better: 'less', unit: '' }];
  });
  const result: Result = {
    name: `POST /api/tasks with traces, ${connections} connections`,
    goals,
    notes: byShare.map((side) => describe(side, off)),
  };
  for (const { api } of sides) await api.stop();
  sink.server.closeAllConnections();
  sink.server.close();
  return [result];
};

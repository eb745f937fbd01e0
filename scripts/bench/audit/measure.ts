import { performance } from 'node:perf_hooks';
import { quantile } from '../statistics.js';
import type { AuditTeam } from './fill.js';

interface Entry {
  [field: string]: string;
}

/** Goals, milliseconds. */
const GOALS = { filter: { p50: 15, p99: 60 }, stats: { p50: 150 }, export: { p50: 400 } };

async function call(
  port: number,
  { token }: AuditTeam,
  path: string,
  body?: object,
): Promise<{ ms: number; answer: Record<string, unknown> }> {
  const start = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}/api/audit/${path}`, {
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const ms = performance.now() - start;
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return { ms, answer: JSON.parse(text) as Record<string, unknown> };
}

const line = (name: string, times: number[], goal: { p50: number; p99?: number }): void => {
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  const met = p50 <= goal.p50 && (goal.p99 === undefined || p99 <= goal.p99);
  const goals = `goal ${goal.p50}${goal.p99 === undefined ? '' : ` / ${goal.p99}`}`;
  console.log(
    `    ${name.padEnd(28)} p50 ${p50.toFixed(1).padStart(7)} ms  p99 ${p99.toFixed(1).padStart(7)} ms  ${met ? 'met' : 'MISSED'} (${goals})`,
  );
};

/** The pages that an auditor asks for: each filter alone, with a frequent value, a rare one and one that nothing has. */
function resolveFilters(samples: Entry[]): [name: string, query: Record<string, string>][] {
  const [newest, oldest] = [samples[0] as Entry, samples.at(-1) as Entry];
  const of = (name: string, entry: Entry) => ({ [name]: entry[name] as string });
  const month = `${(oldest['timestamp'] as string).slice(0, 7)}`;
  const stranger = '019a9f00-0000-7000-8000-000000000001';
  return [
    ['no filter', {}],
    ['no filter, row 9,950', { offset: '9950' }],
    ['user_id, the most active', of('user_id', newest)],
    ['user_id, a stranger', { user_id: stranger }],
    ['feature tasks', { feature: 'tasks' }],
    ['feature secrets', { feature: 'secrets' }],
    ['feature billing (none)', { feature: 'billing' }],
    ['action update', { action: 'update' }],
    ['action purge', { action: 'purge' }],
    ['severity LOW', { severity: 'LOW' }],
    ['severity CRITICAL', { severity: 'CRITICAL' }],
    ['entity_type task', { entity_type: 'task' }],
    ['entity_type secret', { entity_type: 'secret' }],
    ['entity_id', of('entity_id', newest)],
    ['entity_id, none', { entity_id: 'none' }],
    ['ip_address', of('ip_address', newest)],
    ['ip_address, none', { ip_address: '192.0.2.1' }],
    ['correlation_id', of('correlation_id', oldest)],
    ['from_time, newest day', { from_time: (newest['timestamp'] as string).slice(0, 10) }],
    ['to_time, oldest month', { to_time: `${month}-99` }],
  ];
}

/** Measures the reads of the log for one team, one request after the other. */
export async function measureAuditLog(port: number, team: AuditTeam, rounds: number): Promise<void> {
  console.log(`\n  A team of ${team.entries.toLocaleString('en')} entries`);
  const { answer } = await call(port, team, 'logs?limit=500&entity_type=task');
  for (const [name, query] of resolveFilters(answer['entries'] as Entry[])) {
    const path = `logs?${new URLSearchParams({ limit: '50', ...query }).toString()}`;
    const times: number[] = [];
    for (let round = -10; round < rounds; round += 1) {
      const { ms } = await call(port, team, path);
      if (round >= 0) times.push(ms);
    }
    line(name, times, GOALS.filter);
  }
  const repeat = async (name: string, path: string, goal: { p50: number }, body?: object): Promise<void> => {
    const times: number[] = [];
    for (let round = -2; round < Math.ceil(rounds / 10); round += 1) {
      const { ms } = await call(port, team, path, body);
      if (round >= 0) times.push(ms);
    }
    line(name, times, goal);
  };
  await repeat('stats of 90 days', 'stats?days=90', GOALS.stats);
  await repeat(`export, at most 10,000`, 'export', GOALS.export, { format: 'json' });
}

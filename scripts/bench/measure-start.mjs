/**
 * `npm run bench:start`: time to ready of a first start (new database) and a second one, and the memory of all idle processes. Uses
 * a temporary DATA_DIR and free ports. RSS counts shared pages once per process; PSS divides them.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from '../build.mjs';
import { anyFreePort } from '../embedded/ports.mjs';
import { root } from '../embedded/settings.mjs';
import { obtainCli } from '../embedded/temporal-cli.mjs';

/** Longer than a pool keeps the connections of the start. */
const IDLE_MS = 45_000;
const TARGETS = { first: 6, second: 3, rssMb: 550 };
const out = (text) => process.stdout.write(`${text}\n`);

/** Starts the service and waits for its facts. */
async function start(env) {
  const since = process.hrtime.bigint();
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs'), '--json'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${errors}`)));
  });
  return { child, seconds: Number(process.hrtime.bigint() - since) / 1e9 };
}

async function stop(child) {
  const since = Date.now();
  child.kill('SIGINT');
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
  return (Date.now() - since) / 1000;
}

const readProc = (pid, file) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

/** Returns the pids of a process and its descendants. */
function family(pid) {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(/^PPid:\s+(\d+)/m.exec(readProc(name, 'status'))?.[1])]);
  const below = (id) => [id, ...parents.filter(([, parent]) => parent === id).flatMap(([child]) => below(child))];
  return below(pid);
}

function readName(pid) {
  const line = readProc(pid, 'cmdline').replaceAll('\0', ' ');
  if (line.includes('start.mjs')) return 'supervisor';
  if (line.includes('api/server.js')) return 'API';
  if (line.includes('activities/worker.js')) return 'worker';
  if (line.includes('start-dev')) return 'Temporal';
  return line.includes('postgres') ? 'PostgreSQL' : line.slice(0, 30);
}

/** Memory by process group, MB. */
function memory(pid) {
  const groups = new Map();
  for (const member of family(pid)) {
    const kb = (pattern, file) => Number(pattern.exec(readProc(member, file))?.[1] ?? 0);
    const name = readName(member);
    const group = groups.get(name) ?? { processes: 0, rss: 0, pss: 0 };
    group.processes += 1;
    group.rss += kb(/^VmRSS:\s+(\d+)/m, 'status') / 1024;
    group.pss += kb(/^Pss:\s+(\d+)/m, 'smaps_rollup') / 1024;
    groups.set(name, group);
  }
  return groups;
}

function printTimes(first, second, stopped) {
  const row = (label, seconds, target) =>
    out(
      `${label.padEnd(34)} ${seconds.toFixed(2).padStart(6)} s   ${target === null ? '' : `target ${target} s  ${seconds <= target ? 'met' : 'MISSED'}`}`,
    );
  row('first start, fresh database', first, TARGETS.first);
  row('second start', second, TARGETS.second);
  row('clean stop', stopped, 3);
}

function printMemory(groups) {
  const row = (...cells) => out(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(14) : String(cell).padStart(10))).join(''));
  row('\nidle', ' processes', 'RSS MB', 'PSS MB');
  const total = { processes: 0, rss: 0, pss: 0 };
  for (const [name, group] of groups) {
    row(name, group.processes, group.rss.toFixed(0), group.pss.toFixed(0));
    for (const key of Object.keys(total)) total[key] += group[key];
  }
  row('all', total.processes, total.rss.toFixed(0), total.pss.toFixed(0));
  out(`target ${TARGETS.rssMb} MB RSS: ${total.rss <= TARGETS.rssMb ? 'met' : 'MISSED'}`);
}

await build();
await obtainCli(out);
const dir = mkdtempSync(join(tmpdir(), 'assent-bench-'));
// The database user that root starts must be able to enter.
chmodSync(dir, 0o711);
const ports = {};
for (const name of ['PORT', 'METRICS_PORT', 'WORKER_METRICS_PORT', 'PG_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT'])
  ports[name] = String(await anyFreePort());
const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...clean } = process.env;
const env = { ...clean, ...ports, DATA_DIR: join(dir, 'data') };
try {
  const first = await start(env);
  await stop(first.child);
  const second = await start(env);
  await sleep(IDLE_MS);
  const groups = process.platform === 'linux' ? memory(second.child.pid) : null;
  const stopped = await stop(second.child);
  printTimes(first.seconds, second.seconds, stopped);
  if (groups) printMemory(groups);
} finally {
  rmSync(dir, { recursive: true, force: true });
}

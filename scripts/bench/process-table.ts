import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks of a CPU second in /proc; 100 on every Linux that Node runs on. */
const TICKS = 100;

/** CPU seconds of all threads of a process, to the nanosecond if the kernel reports them, otherwise NaN. */
function readPreciseCpu(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const spent = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
    return spent.reduce((sum, ns) => sum + ns, 0) / 1e9;
  } catch {
    return Number.NaN;
  }
}

interface Stat {
  parent: number;
  /** CPU seconds of the process itself. */
  own: number;
  /** CPU seconds of its exited children. */
  ended: number;
}

function readStat(pid: number, precise = true): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain blanks; the numbers follow it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const at = (i: number) => Number(fields[i]);
    return {
      parent: at(1),
      own: (precise && readPreciseCpu(pid)) || (at(11) + at(12)) / TICKS,
      ended: (at(13) + at(14)) / TICKS,
    };
  } catch {
    return null;
  }
}

/** CPU seconds of one process so far. NaN without /proc. */
export const readCpu = (pid: number): number => readStat(pid)?.own ?? Number.NaN;

/** CPU seconds of the children of a process that have ended, to the hundredth. NaN without /proc. */
export const cpuOfEnded = (pid: number): number => readStat(pid, false)?.ended ?? Number.NaN;

const findChildren = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readStat(Number(name), false)?.parent === pid)
    .map(Number);

/** CPU seconds of a server and its children so far, exited ones included. NaN without /proc. */
export function cpuOfFamily(pid: number): number {
  const head = readStat(pid);
  if (!head) return Number.NaN;
  const children = findChildren(pid).map((child) => readStat(child));
  return children.reduce((sum, child) => sum + (child?.own ?? 0), head.own + head.ended);
}

/** Resident memory of a process now, bytes; NaN where there is no /proc. */
export function readResident(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** Resident memory of a server and of each of its children now, bytes. */
export const residentOfFamily = (pid: number): number[] => [pid, ...findChildren(pid)].map(readResident);

function readProportional(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Parents of all processes. */
function readParents(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  return parents;
}

/** Memory of a process and all below it, bytes: shared pages are divided among those who map them (PSS), so nothing counts twice. */
export function readFamilyMemory(pid: number): number {
  const parents = readParents();
  const isBelow = (child: number): boolean => {
    for (let at: number | undefined = child; at !== undefined && at > 1; at = parents.get(at)) if (at === pid) return true;
    return false;
  };
  return [...parents.keys()].filter(isBelow).reduce((sum, id) => sum + readProportional(id), 0);
}

/** Runs `work` and returns its result with the CPU seconds that each reading grew by. */
export async function metered<T, K extends string>(
  readings: Record<K, () => number>,
  work: () => Promise<T>,
): Promise<{ result: T; cpu: Record<K, number> }> {
  const names = Object.keys(readings) as K[];
  const before = names.map((name) => readings[name]());
  const result = await work();
  const cpu = Object.fromEntries(names.map((name, i) => [name, readings[name]() - (before[i] as number)]));
  return { result, cpu: cpu as Record<K, number> };
}

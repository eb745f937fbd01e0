import type { Verdict } from '../chaos/invariants.js';
import { median } from '../bench/statistics.js';
import type { Piece } from './state.js';
import { QUEUES, type Sample } from './sample.js';

/** The first hour fills caches. */
const WARM_MINUTES = 60;
const WINDOW_MINUTES = 30;
/** A process that was killed fills its caches again. */
const WARM_LIFE_MINUTES = 10;
const MOST_GROWTH = 0.1;
/** A table of rows that live for seconds. */
const QUEUE_BYTES = 64 * 1024 ** 2;
/** Growth of the bytes of a row, for tables of at least so many rows. */
const MOST_BYTES_A_ROW = 2;
const LEAST_ROWS = 5_000;
/** Oldest row of a queue, s; a kill and the restart after it may take as long. */
const QUEUE_SECONDS = 120;
const AFTER_KILL_MINUTES = 4;

export interface Point {
  minute: number;
  bytes: number;
}

/** Samples of a part by process: each kill begins another life. The minutes of a life's start are left out. */
function livesOf(samples: readonly Sample[], part: string): Point[][] {
  const lives = new Map<number, Point[]>();
  for (const { minute, memory } of samples) {
    const found = memory[part];
    if (found) lives.set(found.pid, [...(lives.get(found.pid) ?? []), { minute, bytes: found.bytes }]);
  }
  return [...lives.values()];
}

const withoutStart = (life: Point[]): Point[] =>
  life.filter(({ minute }) => minute - (life[0] as Point).minute >= WARM_LIFE_MINUTES);

/** Growth of a life by least squares, bytes an hour; NaN for fewer than three samples. */
export function slopeOf(life: readonly Point[]): number {
  if (life.length < 3) return Number.NaN;
  const mean = (of: (point: Point) => number) => life.reduce((sum, point) => sum + of(point), 0) / life.length;
  const [x, y] = [mean((point) => point.minute), mean((point) => point.bytes)];
  const over = life.reduce((sum, { minute, bytes }) => sum + (minute - x) * (bytes - y), 0);
  return (over / life.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0)) * 60;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Growth of a part from the second hour on; reasons why it is not flat. */
function findGrowth(part: string, samples: readonly Sample[]): string[] {
  const lives = livesOf(samples, part).map(withoutStart);
  const late = lives.flat().filter(({ minute }) => minute >= WARM_MINUTES);
  const windows: number[][] = [];
  for (const { minute, bytes } of late) (windows[Math.floor((minute - WARM_MINUTES) / WINDOW_MINUTES)] ??= []).push(bytes);
  const medians = windows.filter(Boolean).map(median);
  const first = medians[0] ?? Number.NaN;
  const most = Math.max(...medians);
  const found =
    most > first * (1 + MOST_GROWTH)
      ? [`${part}: ${megabytes(first)} in the first half hour of the verdict, ${megabytes(most)} later`]
      : [];
  // Kills hide a leak from the windows; the longest life shows it.
  const longest = lives.map((life) =>
    life.filter(({ minute }) => minute >= (life[0] as Point).minute + WARM_MINUTES - WARM_LIFE_MINUTES),
  );
  for (const life of longest.filter((points) => points.length >= WINDOW_MINUTES)) {
    const growth = slopeOf(life) / (life[0] as Point).bytes;
    if (growth > MOST_GROWTH) found.push(`${part}: grows by ${(growth * 100).toFixed(0)} % an hour without a restart`);
  }
  return found;
}

const partsOf = (samples: readonly Sample[]): string[] => [...new Set(samples.flatMap(({ memory }) => Object.keys(memory)))];

/** Judges the memory of the longest piece; a piece of less than two hours only reports. */
export function judgeMemory({ minutes, samples }: Piece): Verdict {
  const skipped =
    minutes < WARM_MINUTES + 2 * WINDOW_MINUTES ? `the longest piece took ${minutes.toFixed(0)} minutes, not two hours` : null;
  const violations = skipped === null ? partsOf(samples).flatMap((part) => findGrowth(part, samples)) : [];
  return {
    name: 'memory_flat',
    words: 'Memory of each process grows by at most 10 % from the second hour on',
    violations,
    skipped,
  };
}

/** Lines about the memory of each part: first, last and most, and the growth of its longest life. */
export function describeMemory(samples: readonly Sample[]): string[] {
  return partsOf(samples).map((part) => {
    const lives = livesOf(samples, part);
    const longest = lives.reduce((best, life) => (life.length > best.length ? life : best), []);
    const all = lives.flat().map(({ bytes }) => bytes);
    const [first = 0, last = 0] = [all[0], all.at(-1)];
    const slope = slopeOf(longest);
    const growth = Number.isNaN(slope)
      ? 'too few samples for a slope'
      : `${(slope / 1e6).toFixed(1)} MB an hour in its longest life of ${longest.length} samples`;
    return `${part}: ${megabytes(first)} at first, ${megabytes(last)} at last, ${megabytes(Math.max(...all))} at most; ${growth}`;
  });
}

/** Judges the sizes of tables over all pieces: queues stay small, other tables need no more bytes a row. */
export function judgeTables(samples: readonly Sample[]): Verdict {
  const violations: string[] = [];
  const atFirst = new Map<string, number>();
  for (const { minute, tables } of samples)
    for (const { name, bytes, rows } of tables) {
      if (Object.hasOwn(QUEUES, name)) {
        if (bytes > QUEUE_BYTES) violations.push(`${name}: ${megabytes(bytes)} in minute ${minute.toFixed(0)}`);
        continue;
      }
      if (rows < LEAST_ROWS) continue;
      const first = atFirst.get(name) ?? bytes / rows;
      atFirst.set(name, first);
      if (bytes / rows > first * MOST_BYTES_A_ROW)
        violations.push(
          `${name}: ${(bytes / rows).toFixed(0)} bytes a row in minute ${minute.toFixed(0)}, ${first.toFixed(0)} before`,
        );
    }
  return {
    name: 'tables_in_limits',
    words: 'Queues stay below 64 MB, and no table doubles its bytes a row',
    violations,
    skipped: null,
  };
}

/** Judges the age of queues, except for the minutes after a kill. */
export function judgeQueues({ samples, kills }: Pick<Piece, 'samples' | 'kills'>): Verdict {
  const isCalm = (minute: number) => kills.every((kill) => minute < kill.minute || minute > kill.minute + AFTER_KILL_MINUTES);
  const violations = samples
    .filter(({ minute }) => isCalm(minute))
    .flatMap(({ minute, queues }) =>
      queues
        .filter(({ name, age }) => name !== 'runs' && (age ?? 0) > QUEUE_SECONDS)
        .map(({ name, age }) => `${name}: a row waits for ${age?.toFixed(0)} s in minute ${minute.toFixed(0)}`),
    );
  return { name: 'queues_move', words: 'No event waits two minutes unless something was killed', violations, skipped: null };
}

/** Seconds of failures that one kill may cause. */
const FAILING_SECONDS = 60;

/** Judges the failed requests of the even load: none is refused, and the others fail only for a time after each kill. */
export function judgeFailures({ sent, failed, kills, minutes }: Pick<Piece, 'sent' | 'failed' | 'kills' | 'minutes'>): Verdict {
  const kinds = Object.entries(failed);
  const refused = kinds.filter(([kind]) => kind.startsWith('4')).map(([kind, count]) => `${count} requests got ${kind}`);
  const others = kinds.filter(([kind]) => !kind.startsWith('4')).reduce((sum, [, count]) => sum + count, 0);
  const most = Math.ceil((sent / (minutes * 60)) * FAILING_SECONDS * kills.length);
  return {
    name: 'requests_answered',
    words: `No request of the even load is refused, and after each kill at most as many fail as are sent in ${FAILING_SECONDS} s`,
    violations:
      others > most ? [...refused, `${others} of ${sent} requests failed, ${most} may: ${JSON.stringify(failed)}`] : refused,
    skipped: null,
  };
}

/** Compares acknowledged titles with the number of tasks of each title. No request was sent twice, so none may be there twice. */
export function judgeTitles(acknowledged: readonly string[], counts: ReadonlyMap<string, number>): Verdict[] {
  const lost = acknowledged.filter((title) => !counts.has(title));
  const doubled = [...counts].filter(([, count]) => count > 1).map(([title, count]) => `${title}: ${count} tasks`);
  return [
    {
      name: 'nothing_lost',
      words: `Each of ${acknowledged.length} acknowledged tasks of the even load is there`,
      violations: lost,
      skipped: null,
    },
    { name: 'nothing_doubled', words: 'No task of the even load is there twice', violations: doubled, skipped: null },
  ];
}

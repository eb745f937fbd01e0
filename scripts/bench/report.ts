import type { Comparison, Figures, LoadOptions } from './rounds.js';
import type { World } from './seed.js';
import type { Servers } from './servers.js';

/** A goal and its measured value. */
export interface Goal {
  what: string;
  value: number;
  goal: number;
  /** Whether higher or lower is better. */
  better: 'more' | 'less';
  unit: string;
}

/** One line of the report. */
export interface Result {
  name: string;
  comparison?: Comparison;
  goals: Goal[];
  /** Additional figures. */
  notes: string[];
}

/** A section of `npm run bench`. */
export type Section = (servers: Servers, world: World, load: LoadOptions) => Promise<Result[]>;

export const met = ({ value, goal, better }: Goal): boolean => (better === 'more' ? value >= goal : value <= goal);

const cell = (value: number, digits: number, width: number) => value.toFixed(digits).padStart(width);

const line = (side: string, { rate, p50, p99, cpuApp, cpuPostgres, errors }: Figures): string =>
  `    ${side.padEnd(8)}${cell(rate, 0, 7)}/s  p50 ${cell(p50, 2, 7)} ms  p99 ${cell(p99, 2, 7)} ms  ` +
  `CPU ${cell(cpuApp, 3, 6)} + ${cell(cpuPostgres, 3, 6)} s/1000${errors > 0 ? `  ${errors} ERRORS` : ''}`;

const goalLine = (goal: Goal): string => {
  const sign = goal.better === 'more' ? '>=' : '<=';
  const { value, unit } = goal;
  return `    ${met(goal) ? 'met   ' : 'MISSED'}  ${goal.what}: ${value.toFixed(2)}${unit} (goal ${sign} ${goal.goal}${unit})`;
};

/** The result as text. CPU is application + PostgreSQL. */
export function printResult({ name, comparison, goals, notes }: Result): void {
  console.log(`\n  ${name}`);
  if (comparison) {
    console.log(line('product', comparison.product));
    console.log(line('floor', comparison.floor));
    console.log(
      `    ratio   ${comparison.ratio.toFixed(2)} of the baseline's rate, ${comparison.cpuRatio.toFixed(2)} times its CPU`,
    );
  }
  for (const note of notes) console.log(`    ${note}`);
  for (const goal of goals) console.log(goalLine(goal));
}

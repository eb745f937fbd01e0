import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { explainArguments } from './admin/explain-failures.js';
import { measureCosts } from './capacity/measure.js';
import {
  type Capacity,
  type Cell,
  computeCapacity,
  type Costs,
  type Demand,
  findSensitivity,
  KINDS,
  type Part,
  PARTS,
} from './capacity/model.js';
import { type Placement, simulate } from './capacity/skew.js';

const USAGE = `Computes what a number of teams needs, from costs that were measured in this repository (scripts/capacity/costs.json).

  npm run capacity -- [options]

  --measure             measures the costs on this machine first, about three minutes, and writes them
  --teams N             (10000)
  What an average team does a day: ten people, their programs and CI
  --reads N             single records (4000)
  --lists N             (800)
  --writes N            changes of tasks and other items (600)
  --deliveries N        of the code host (200)
  --runs N              of automations that fire, each with one action (100)
  --webhooks N          deliveries to its own endpoints (300)
  --peak SHARE          of a day in its busiest hour (0.15)
  A cell
  --api, --worker, --postgres, --temporal N   cores (2, 1, 4, 1)
  --use SHARE           of these cores in the busiest hour (0.5)
  --most N              teams that one failure may stop (1000)
  Skew
  --exponent N          of the sizes of teams by Zipf's law (0.8)
  --triage SHARE        an overnight triage, as a share of an average team's day (0.01)`;

const FILE = resolve(join('scripts', 'capacity', 'costs.json'));
const number = (byDefault: number) => ({ type: 'string' as const, default: String(byDefault) });
explainArguments(USAGE);
const { values } = parseArgs({
  options: {
    measure: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    teams: number(10_000),
    reads: number(4_000),
    lists: number(800),
    writes: number(600),
    deliveries: number(200),
    runs: number(100),
    webhooks: number(300),
    peak: number(0.15),
    api: number(2),
    worker: number(1),
    postgres: number(4),
    temporal: number(1),
    use: number(0.5),
    most: number(1_000),
    exponent: number(0.8),
    triage: number(0.01),
  },
});

type NumberName = Exclude<keyof typeof values, 'measure' | 'help'>;
const read = (name: NumberName): number => {
  const value = Number(values[name]);
  if (Number.isFinite(value) && value > 0) return value;
  console.error(`--${name} must be a positive number\n\n${USAGE}`);
  process.exit(2);
};

const bytes = (value: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${(value / 1_000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
};
const row = (name: string, cells: readonly string[]): string =>
  `  ${name.padEnd(14)}${cells.map((cell) => cell.padStart(12)).join('')}`;
const ofParts = (name: string, show: (part: Part) => string): string => row(name, PARTS.map(show));
const share = (value: number): string => `${(value * 100).toFixed(0)}%`;

function printCosts({ at, machine, idle, kinds, check }: Costs): void {
  console.log(`Costs of ${at}, ${machine}: CPU ms and bytes for one, with everything it causes\n`);
  console.log(row('', [...PARTS, 'WAL', 'database', 'Temporal']));
  for (const kind of KINDS) {
    const { wal, disk, history, ...cpu } = kinds[kind];
    console.log(row(kind, [...PARTS.map((part) => cpu[part].toFixed(2)), bytes(wal), bytes(disk), bytes(history)]));
  }
  console.log(ofParts('idle, a second', (part) => idle[part].toFixed(1)));
  console.log('\nA mixed load that was not used for the costs, CPU ms a second\n');
  console.log(ofParts('predicted', (part) => check.predicted[part].toFixed(0)));
  console.log(ofParts('measured', (part) => check.measured[part].toFixed(0)));
  console.log(ofParts('ratio', (part) => (check.measured[part] / check.predicted[part]).toFixed(2)));
}

function printCapacity({ cores, use, ...found }: Capacity, demand: Demand, cell: Cell): void {
  console.log(`\n${demand.teams} teams, ${share(demand.peak)} of a day in its busiest hour\n`);
  console.log(row('', [...PARTS]));
  console.log(ofParts('cores, all', (part) => cores[part].toFixed(1)));
  console.log(ofParts('cores, a cell', (part) => String(cell.cores[part])));
  console.log(ofParts('used', (part) => share(use[part])));
  console.log(`\n  a cell carries ${found.carried} teams: ${found.first} is full first`);
  console.log(
    `  ${found.cells} cells of ${found.teamsPerCell} teams, ${found.writesPerCell.toFixed(0)} writes a second in the busiest hour`,
  );
  console.log(`  a month: the database grows by ${bytes(found.diskPerMonth)} before retention`);
  console.log(
    `  a day: ${bytes(found.walPerDay)} of write-ahead log to archive, ${bytes(found.historyPerDay)} of histories until Temporal's retention`,
  );
}

const placementCells = ({ median, p99, max, triage, moves, isPossible }: Placement): string[] => [
  ...[median, p99, max, triage].map((value) => value.toFixed(2)),
  isPossible ? String(moves) : `${moves}, stuck`,
];

if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const demand: Demand = {
  teams: read('teams'),
  peak: read('peak'),
  perDay: {
    read: read('reads'),
    list: read('lists'),
    write: read('writes'),
    delivery_in: read('deliveries'),
    run: read('runs'),
    delivery_out: read('webhooks'),
  },
};
const cell: Cell = {
  cores: { api: read('api'), worker: read('worker'), postgres: read('postgres'), temporal: read('temporal') },
  use: read('use'),
  most: read('most'),
};
if (values.measure) writeFileSync(FILE, `${JSON.stringify(await measureCosts((line) => console.error(line)), null, 2)}\n`);
const costs = JSON.parse(readFileSync(FILE, 'utf8')) as Costs;
const capacity = computeCapacity(costs, demand, cell);
printCosts(costs);
printCapacity(capacity, demand, cell);
console.log('\nTeams that a cell carries if one input doubles, and what is full first then\n');
for (const { kind, carried, first } of findSensitivity(costs, demand, cell)) console.log(row(kind, [String(carried), first]));
const skew = {
  teams: demand.teams,
  cells: capacity.cells,
  exponent: read('exponent'),
  peak: demand.peak,
  triage: read('triage'),
};
const { byHash, afterMoves, largest } = simulate(skew);
console.log(
  `\nUneven teams: the largest does ${largest.toFixed(0)} times the work of an average one. Load of the cells, 1 is their mean in the busiest hour\n`,
);
console.log(row('', ['median', 'p99', 'fullest', 'triage', 'moves']));
console.log(row('by hash', placementCells(byHash)));
console.log(row('after moves', placementCells(afterMoves)));

/** Teams as uneven as they are: sizes by Zipf's law, working hours in three time zones, all overnight triages in the same minutes. */
export interface Skew {
  teams: number;
  cells: number;
  /** Exponent of Zipf's law: 0 is equal teams, 1 makes the largest of 10,000 do a tenth of all work. */
  exponent: number;
  /** Share of a day in a team's busiest hour. */
  peak: number;
  /** Load of one overnight triage, as a share of an average team's day, all of it in ten minutes. */
  triage: number;
}

/** Loads of the cells in the hour that is worst for each, as multiples of the mean of all cells in the busiest hour. */
export interface Placement {
  median: number;
  p99: number;
  max: number;
  /** The same in the ten minutes of the overnight triage. */
  triage: number;
  /** Teams to be moved until no cell is above 1.2, and whether that is possible. */
  moves: number;
  isPossible: boolean;
}

const HOURS = 24;
/** Hours between the working days of the three regions, and the share of teams in each. */
const REGIONS = [
  { offset: 0, share: 0.5 },
  { offset: 6, share: 0.35 },
  { offset: 13, share: 0.15 },
];
const WORKDAY = 9;
/** Highest load of a cell, as a multiple of the mean, from which teams are moved. */
const TOO_MUCH = 1.2;

/** Numbers from 0 to 1 that are the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Team {
  /** Load of its day; 1 is the average. */
  size: number;
  region: number;
}

function createTeams({ teams, exponent }: Skew): Team[] {
  const random = createRandom(1);
  const raw = Array.from({ length: teams }, (_, rank) => 1 / (rank + 1) ** exponent);
  const mean = raw.reduce((sum, size) => sum + size, 0) / teams;
  return raw.map((size) => {
    const at = random();
    const region = at < 0.5 ? 0 : at < 0.85 ? 1 : 2;
    return { size: size / mean, region };
  });
}

/** Share of a team's day in an hour of its own clock: the busiest hour, eight hours that share most of the rest, and quiet ones. */
function shareOfHour(hour: number, peak: number): number {
  if (hour === WORKDAY + 2) return peak;
  const isWork = hour >= WORKDAY && hour < WORKDAY + 9;
  return isWork ? ((1 - peak) * 0.9) / 8 : ((1 - peak) * 0.1) / 15;
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;

/** Load of each hour of the cells whose teams these are. */
function addHours(teams: readonly Team[], peak: number): number[] {
  return Array.from({ length: HOURS }, (_, hour) =>
    teams.reduce((sum, { size, region }) => {
      const own = (hour + (REGIONS[region]?.offset ?? 0)) % HOURS;
      return sum + size * shareOfHour(own, peak);
    }, 0),
  );
}

function judge(cells: readonly Team[][], { peak, triage, teams }: Skew, moves: number, isPossible: boolean): Placement {
  const hours = cells.map((own) => addHours(own, peak));
  const total = Array.from({ length: HOURS }, (_, hour) => hours.reduce((sum, own) => sum + (own[hour] as number), 0));
  const mean = Math.max(...total) / cells.length;
  const worst = hours.map((own) => Math.max(...own) / mean).toSorted((a, b) => a - b);
  // Each team's triage costs the same whatever its size: it is one run. Ten minutes, as a rate an hour.
  const night = cells.map((own) => (own.filter(({ region }) => region === 0).length * triage * 6) / mean);
  return {
    median: quantile(worst, 0.5),
    p99: quantile(worst, 0.99),
    max: worst.at(-1) as number,
    triage: teams === 0 ? 0 : Math.max(...night),
    moves,
    isPossible,
  };
}

/** Puts teams where a hash of their id leads. */
function placeByHash(teams: readonly Team[], count: number): Team[][] {
  const random = createRandom(2);
  const cells: Team[][] = Array.from({ length: count }, () => []);
  for (const team of teams) cells[Math.floor(random() * count)]?.push(team);
  return cells;
}

const sizeOf = (cell: readonly Team[]): number => cell.reduce((sum, { size }) => sum + size, 0);

/** Moves teams from the fullest cell to the emptiest one, until none is above TOO_MUCH of the mean or no move helps. */
function balance(cells: Team[][]): { moves: number; isPossible: boolean } {
  const loads = cells.map(sizeOf);
  const mean = loads.reduce((sum, load) => sum + load, 0) / cells.length;
  for (let moves = 0; ; moves += 1) {
    const from = loads.indexOf(Math.max(...loads));
    const to = loads.indexOf(Math.min(...loads));
    if ((loads[from] as number) <= TOO_MUCH * mean) return { moves, isPossible: true };
    const room = (loads[from] as number) - (loads[to] as number);
    // The largest team whose move makes the fuller of both emptier; teams stand by size.
    const at = (cells[from] as Team[]).findIndex(({ size }) => size < room);
    if (at === -1 || moves > cells.length * 50) return { moves, isPossible: false };
    const [team] = (cells[from] as Team[]).splice(at, 1) as [Team];
    (cells[to] as Team[]).push(team);
    cells[to]?.sort((a, b) => b.size - a.size);
    loads[from] = (loads[from] as number) - team.size;
    loads[to] = (loads[to] as number) + team.size;
  }
}

/** Simulates a day of all cells: teams placed by a hash, and after moving teams away from cells that are too full. */
export function simulate(skew: Skew): { byHash: Placement; afterMoves: Placement; largest: number } {
  const teams = createTeams(skew);
  const cells = placeByHash(teams, skew.cells);
  const byHash = judge(cells, skew, 0, true);
  const { moves, isPossible } = balance(cells);
  return { byHash, afterMoves: judge(cells, skew, moves, isPossible), largest: teams[0]?.size ?? 0 };
}

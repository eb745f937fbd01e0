/** What causes work. */
export const KINDS = ['read', 'list', 'write', 'delivery_in', 'run', 'delivery_out'] as const;
export type Kind = (typeof KINDS)[number];
/** What does it. */
export const PARTS = ['api', 'worker', 'postgres', 'temporal'] as const;
export type Part = (typeof PARTS)[number];

/** What one of a kind costs, as measured: CPU in ms of each part, bytes written. */
export interface Cost extends Record<Part, number> {
  /** Bytes of write-ahead log. */
  wal: number;
  /** Bytes by which the database grew. */
  disk: number;
  /** Bytes by which Temporal's store grew. */
  history: number;
}

/** Measured on one machine in one run (`npm run capacity -- --measure`). */
export interface Costs {
  at: string;
  machine: string;
  /** CPU ms a second of each part without any load. */
  idle: Record<Part, number>;
  kinds: Record<Kind, Cost>;
  /** A mixed load at a fixed rate, CPU ms a second: as these costs predict it, and as it was. */
  check: { rates: Record<Kind, number>; predicted: Record<Part, number>; measured: Record<Part, number> };
}

/** What an average team does in a day, and how uneven that is. */
export interface Demand {
  teams: number;
  perDay: Record<Kind, number>;
  /** Share of a day in its busiest hour. */
  peak: number;
}

/** Cores that a cell gives to each part, the share of them that a busy hour may use, and the most teams that one failure may stop. */
export interface Cell {
  cores: Record<Part, number>;
  use: number;
  most: number;
}

const HOUR = 3_600;

const each = <T>(make: (part: Part) => T): Record<Part, T> =>
  Object.fromEntries(PARTS.map((part) => [part, make(part)])) as Record<Part, T>;

/** CPU ms a second of each part at these rates a second, idle work included. */
export const predict = ({ idle, kinds }: Pick<Costs, 'idle' | 'kinds'>, rates: Record<Kind, number>): Record<Part, number> =>
  each((part) => KINDS.reduce((sum, kind) => sum + rates[kind] * kinds[kind][part], idle[part]));

/** The costs, raised by as much as the mixed load cost more than they predict. */
export function raiseCosts({ idle, kinds, check, ...rest }: Costs): Costs {
  const factor = each((part) => Math.max(1, check.measured[part] / check.predicted[part]));
  const raised = KINDS.map((kind) => [kind, { ...kinds[kind], ...each((part) => kinds[kind][part] * factor[part]) }] as const);
  return { ...rest, idle, check, kinds: Object.fromEntries(raised) as Record<Kind, Cost> };
}

/** Rates a second in the busiest hour of so many average teams. */
const findPeakRates = ({ perDay, peak }: Demand, teams: number): Record<Kind, number> =>
  Object.fromEntries(KINDS.map((kind) => [kind, (teams * perDay[kind] * peak) / HOUR])) as Record<Kind, number>;

/** What a demand takes, in cells of one size. */
export interface Capacity {
  /** Cores that each part needs in the busiest hour, all teams together and without idle work. */
  cores: Record<Part, number>;
  /** Average teams that a cell carries, and the part that is full first. */
  carried: number;
  first: Part;
  /** Teams in a cell, at most as many as one failure may stop. */
  teamsPerCell: number;
  cells: number;
  /** Share of each part's cores that a cell with these teams uses. */
  use: Record<Part, number>;
  /** Bytes a month of all teams. */
  diskPerMonth: number;
  walPerDay: number;
  historyPerDay: number;
  /** Writes a second of a full cell. */
  writesPerCell: number;
}

/**
 * Computes how many teams a cell carries and how many cells the demand needs.
 * @throws Error if a cell carries not even one team
 */
export function computeCapacity(measured: Costs, demand: Demand, { cores, use, most }: Cell): Capacity {
  const costs = raiseCosts(measured);
  const oneTeam = predict({ ...costs, idle: each(() => 0) }, findPeakRates(demand, 1));
  const byPart = each((part) => Math.floor((cores[part] * use * 1_000 - costs.idle[part]) / oneTeam[part]));
  const first = PARTS.reduce((worst, part) => (byPart[part] < byPart[worst] ? part : worst));
  const carried = byPart[first];
  if (carried < 1) throw new Error(`A cell with ${cores[first]} cores for ${first} does not carry one such team`);
  const teamsPerCell = Math.min(carried, most, demand.teams);
  const full = predict(costs, findPeakRates(demand, teamsPerCell));
  const bytes = (of: 'disk' | 'wal' | 'history'): number =>
    demand.teams * KINDS.reduce((sum, kind) => sum + demand.perDay[kind] * costs.kinds[kind][of], 0);
  return {
    cores: each((part) => (oneTeam[part] * demand.teams) / 1_000),
    carried,
    first,
    teamsPerCell,
    cells: Math.ceil(demand.teams / teamsPerCell),
    use: each((part) => full[part] / 1_000 / cores[part]),
    diskPerMonth: bytes('disk') * 30,
    walPerDay: bytes('wal'),
    historyPerDay: bytes('history'),
    writesPerCell: findPeakRates(demand, teamsPerCell).write,
  };
}

/** Requests a second at which cores would be full, for shares of kinds that sum to one; with everything they cause, on one machine. */
export function findMostRequests(costs: Costs, shares: Partial<Record<Kind, number>>, cores: number): number {
  const { kinds } = raiseCosts(costs);
  const one = KINDS.reduce((sum, kind) => sum + (shares[kind] ?? 0) * PARTS.reduce((all, part) => all + kinds[kind][part], 0), 0);
  return (cores * 1_000) / one;
}

/** Teams that a cell carries, and the part that is full first, if one input doubles; the worst first. */
export function findSensitivity(costs: Costs, demand: Demand, cell: Cell): { kind: Kind; carried: number; first: Part }[] {
  const doubled = KINDS.map((kind) => {
    const more = { ...demand, perDay: { ...demand.perDay, [kind]: demand.perDay[kind] * 2 } };
    return { kind, ...computeCapacity(costs, more, cell) };
  });
  return doubled.map(({ kind, carried, first }) => ({ kind, carried, first })).toSorted((a, b) => a.carried - b.carried);
}

import { readFileSync } from 'node:fs';
import {
  computeCapacity,
  type Costs,
  type Demand,
  findSensitivity,
  KINDS,
  PARTS,
  predict,
  raiseCosts,
} from '../../scripts/capacity/model.js';
import { simulate } from '../../scripts/capacity/skew.js';

const parts = (value: number) => ({ api: value, worker: value, postgres: value, temporal: value });
const kinds = (value: number) => ({
  read: value,
  list: value,
  write: value,
  delivery_in: value,
  run: value,
  delivery_out: value,
});
const cost = (cpu: number) => ({ ...parts(cpu), wal: 10, disk: 2, history: 1 });
/** One CPU ms in each part for each of a kind. */
const costs: Costs = {
  at: '2026-11-26',
  machine: 'test',
  idle: parts(0),
  kinds: { read: cost(1), list: cost(1), write: cost(1), delivery_in: cost(1), run: cost(1), delivery_out: cost(1) },
  check: { rates: kinds(1), predicted: parts(6), measured: parts(6) },
};
/** 5,400 a day of all kinds, a quarter of it in one hour: 0.375 CPU ms a second for each part. */
const demand: Demand = { teams: 10_000, perDay: kinds(900), peak: 0.25 };
const cell = { cores: parts(1), use: 0.5, most: 1_000_000 };

describe('the capacity of a cell', () => {
  it('is what its fullest part carries', () => {
    // Half a core is 500 CPU ms a second.
    expect(computeCapacity(costs, demand, cell)).toMatchObject({ carried: 1_333, cells: 8 });
    const narrow = { ...cell, cores: { ...parts(1), worker: 0.1 } };
    expect(computeCapacity(costs, demand, narrow)).toMatchObject({ carried: 133, first: 'worker', cells: 76 });
  });

  it('is no more than one failure may stop', () => {
    expect(computeCapacity(costs, demand, { ...cell, most: 500 })).toMatchObject({
      carried: 1_333,
      teamsPerCell: 500,
      cells: 20,
    });
  });

  it('falls by what the mixed load cost more than predicted, never rises', () => {
    const off = (measured: number): Costs => ({
      ...costs,
      check: { ...costs.check, measured: { ...parts(6), postgres: measured } },
    });
    expect(computeCapacity(off(12), demand, cell)).toMatchObject({ carried: 666, first: 'postgres' });
    expect(computeCapacity(off(3), demand, cell).carried).toBe(1_333);
  });

  it('counts the bytes of all teams', () => {
    const { diskPerMonth, walPerDay, historyPerDay } = computeCapacity(costs, demand, cell);
    expect([diskPerMonth, walPerDay, historyPerDay]).toEqual([10_000 * 5_400 * 2 * 30, 10_000 * 5_400 * 10, 10_000 * 5_400]);
  });

  it('says which input matters most', () => {
    const run = { ...costs.kinds.run, temporal: 10 };
    const [worst] = findSensitivity({ ...costs, kinds: { ...costs.kinds, run } }, demand, cell);
    expect(worst).toMatchObject({ kind: 'run', first: 'temporal' });
  });

  it('is refused for a team that no cell carries', () => {
    const huge = { ...demand, perDay: kinds(10_000_000) };
    expect(() => computeCapacity(costs, huge, cell)).toThrow('does not carry one such team');
  });
});

describe('uneven teams', () => {
  const skew = { teams: 10_000, cells: 10, exponent: 0.8, peak: 0.15, triage: 0.01 };

  it('equal ones load all cells alike; the largest of uneven ones fills a cell', () => {
    const even = simulate({ ...skew, exponent: 0 });
    expect(even.largest).toBeCloseTo(1);
    expect(even.byHash.max).toBeLessThan(1.2);
    const uneven = simulate({ ...skew, exponent: 1 });
    expect(uneven.byHash.max).toBeGreaterThan(even.byHash.max);
    // A tenth of all work, and more, in one team: no move helps.
    expect(uneven.largest).toBeGreaterThan(900);
  });

  it('moves make the fullest cell emptier, and the result is the same in each run', () => {
    const { byHash, afterMoves } = simulate(skew);
    expect(afterMoves.max).toBeLessThanOrEqual(byHash.max);
    expect(simulate(skew)).toEqual({ ...simulate(skew) });
  });
});

it('the measured costs have each kind and part, none negative, and the check compares the same parts', () => {
  const measured = JSON.parse(readFileSync('scripts/capacity/costs.json', 'utf8')) as Costs;
  for (const kind of KINDS)
    for (const of of [...PARTS, 'wal', 'disk', 'history'] as const) expect(measured.kinds[kind][of]).toBeGreaterThanOrEqual(0);
  expect(measured.kinds.write.postgres).toBeGreaterThan(0);
  expect(measured.kinds.run.temporal).toBeGreaterThan(0);
  const { rates, predicted } = measured.check;
  const again = predict(measured, { ...rates, write: rates.write + rates.run });
  for (const part of PARTS) expect(again[part]).toBeCloseTo(predicted[part]);
  for (const kind of KINDS) expect(raiseCosts(measured).kinds[kind].worker).toBeGreaterThanOrEqual(measured.kinds[kind].worker);
});

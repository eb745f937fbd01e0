/** Seeded random numbers (mulberry32), so that a run can be repeated. */
export interface Random {
  /** At least 0, below 1. */
  next: () => number;
  /** True with this probability. */
  chance: (probability: number) => boolean;
  /** A whole number from `min` to `max`, both included. */
  between: (min: number, max: number) => number;
  pick: <T>(items: readonly T[]) => T;
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (items) => items[between(0, items.length - 1)] as (typeof items)[number],
  };
}

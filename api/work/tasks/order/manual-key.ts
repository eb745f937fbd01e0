/** The moment from which places are counted. A late one keeps the numbers small, so that more of them fit between two. */
const START = '2026-01-01T00:00:00Z';

/**
 * Returns SQL of the place of a task in the manual order: its `position`, or for a task without one the seconds from the start to its creation. So a
 * task can be moved between two that nobody moved yet, and only its own row is written (docs/decisions/work.md#manual-order).
 */
export const manualKey = (row: string): string =>
  `coalesce(${row}.position, extract(epoch from ${row}.created_at - timestamptz '${START}')::double precision)`;

/** Returns the same place of a record. */
export const placeInOrder = ({ position, created_at }: { position: number | null; created_at: string }): number =>
  position ?? (Date.parse(created_at) - Date.parse(START)) / 1000;

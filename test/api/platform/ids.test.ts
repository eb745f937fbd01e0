import { validate, version } from 'uuid';
import { newId } from '../../../api/platform/ids.js';

it('returns distinct, ascending UUIDv7s across refills of the random pool', () => {
  const ids = Array.from({ length: 2_000 }, newId);
  expect(new Set(ids).size).toBe(2_000);
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
});

it('carries the time of its creation', () => {
  const before = Date.now();
  const ms = Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16);
  expect(ms).toBeGreaterThanOrEqual(before);
  expect(ms).toBeLessThanOrEqual(Date.now());
});

it('keeps ascending when the clock steps back', () => {
  const { now } = Date;
  try {
    Date.now = () => 4_000_000_000_000;
    const first = newId();
    Date.now = () => 3_999_999_999_000;
    expect(newId() > first).toBe(true);
  } finally {
    Date.now = now;
  }
});

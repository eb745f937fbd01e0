import fc from 'fast-check';
import { truncateEvent } from '../../../../api/automation/runs/record/truncate-event.js';

const MAX = 65_536;
const countBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const base = { type: 'forge.push', team_id: null, commit_count: 20, sender: 'octo' };

it('keeps an event that fits, to the last byte', () => {
  const room = MAX - countBytes({ ...base, text: '' });
  const whole = { ...base, text: 'x'.repeat(room) };
  expect(truncateEvent(whole)).toEqual({ event: whole, truncated: false });
  expect(truncateEvent({ ...base, text: 'x'.repeat(room + 1) }).truncated).toBe(true);
});

it('a push of long messages keeps each of them, shortened no more than need be', () => {
  const messages = Array.from({ length: 20 }, (_, n) => (n === 0 ? 'release: x' : `work ${n} ${'long line\n'.repeat(450)}`));
  const { event, truncated } = truncateEvent({ ...base, messages });
  const kept = (event as { messages: string[] }).messages;
  expect({ truncated, count: kept.length, first: kept[0] }).toEqual({ truncated: true, count: 20, first: 'release: x' });
  expect(kept.slice(1).every((text, n) => text.startsWith(`work ${n + 1} long line`) && text.endsWith('…'))).toBe(true);
  expect(event).toMatchObject(base);
  expect(countBytes(event)).toBeGreaterThan(MAX / 4);
});

it('keeps the first whole entries of a long list, and the neighbors of a long nested text', () => {
  const files = Array.from({ length: 5_000 }, (_, n) => ({ path: `src/file-${n}.ts`, added: n }));
  const listed = truncateEvent({ ...base, files }).event as { files: typeof files };
  expect(listed.files).toEqual(files.slice(0, 200));
  const task = { task_id: 't1', tags: ['bug'], description: '😀'.repeat(40_000) };
  const { event } = truncateEvent({ ...base, task });
  expect(event).toMatchObject({ ...base, task: { task_id: 't1', tags: ['bug'] } });
  expect(JSON.stringify(event).isWellFormed()).toBe(true);
});

it('where shortening is not enough the largest fields go, and no others', () => {
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`name-${n}`, n]));
  expect(truncateEvent({ wide, ...base, ['k'.repeat(70_000)]: 1 })).toEqual({ event: base, truncated: true });
});

it('whatever it is made of, it fits, and is fitted once', () => {
  const text = fc.string({ maxLength: 3_000, unit: 'binary' }).map((part) => part.toWellFormed().repeat(9));
  const json = fc.dictionary(fc.string(), fc.oneof(text, fc.array(text), fc.jsonValue()));
  fc.assert(
    fc.property(json, (given) => {
      const { event, truncated } = truncateEvent({ ...given, ...base });
      expect(countBytes(event)).toBeLessThanOrEqual(MAX);
      expect(event).toMatchObject(base);
      expect(truncated || truncateEvent(event).event === event).toBe(true);
      expect(truncateEvent(event)).toEqual({ event, truncated: false });
    }),
    { numRuns: 200 },
  );
});

import { Temporal } from 'temporal-polyfill';
import { parseCron } from '../../../../api/automation/definitions/schedule/cron.js';
import { nextTimes } from '../../../../api/automation/definitions/schedule/next-times.js';

function next(source: string, timezone: string, after: string, count = 3): string[] {
  const parsed = parseCron(source);
  if (!parsed.ok) throw new Error(parsed.message);
  return nextTimes(parsed.cron, timezone, new Date(after), count).map((at) => at.toISOString().slice(0, 16));
}

it.each([
  ['* * * * *', 'UTC', '2026-11-21T00:00:30Z', ['2026-11-21T00:01', '2026-11-21T00:02', '2026-11-21T00:03']],
  ['*/20 9-17/4 * * *', 'UTC', '2026-11-21T09:30Z', ['2026-11-21T09:40', '2026-11-21T13:00', '2026-11-21T13:20']],
  ['0 9 * * MON-FRI', 'Europe/Berlin', '2026-11-20T12:00Z', ['2026-11-23T08:00', '2026-11-24T08:00', '2026-11-25T08:00']],
  ['0 0 31 * *', 'UTC', '2026-11-21T00:00Z', ['2026-12-31T00:00', '2027-01-31T00:00', '2027-03-31T00:00']],
  ['0 0 29 feb *', 'UTC', '2026-11-21T00:00Z', ['2028-02-29T00:00']],
  // Both kinds of day named: either will do. A star, with or without a step, names none.
  ['0 0 13 * FRI', 'UTC', '2026-11-01T00:00Z', ['2026-11-06T00:00', '2026-11-13T00:00', '2026-11-20T00:00']],
  ['0 0 */2 * MON', 'UTC', '2026-11-01T00:00Z', ['2026-11-09T00:00', '2026-11-23T00:00', '2026-12-07T00:00']],
  ['0 0 * * 7', 'UTC', '2026-11-21T00:00Z', ['2026-11-22T00:00', '2026-11-29T00:00', '2026-12-06T00:00']],
  ['0 0 * * 5-7', 'UTC', '2026-11-20T00:00Z', ['2026-11-21T00:00', '2026-11-22T00:00', '2026-11-27T00:00']],
  // The night that leaves 02:00 to 03:00 out, and the one that has it twice.
  ['30 2 * * *', 'Europe/Berlin', '2027-03-27T00:00Z', ['2027-03-27T01:30', '2027-03-29T00:30', '2027-03-30T00:30']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', ['2026-10-25T01:30', '2026-10-26T01:30', '2026-10-27T01:30']],
  ['30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', ['2026-11-01T05:30', '2026-11-02T06:30', '2026-11-03T06:30']],
  ['30 * * * *', 'America/New_York', '2026-11-01T05:00Z', ['2026-11-01T05:30', '2026-11-01T06:30', '2026-11-01T07:30']],
  ['0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00Z', ['2018-11-05T02:00', '2018-11-06T02:00', '2018-11-07T02:00']],
])('%s in %s after %s', (source, timezone, after, expected) => {
  expect(next(source, timezone, after).slice(0, expected.length)).toEqual(expected);
});

it('looks at no day twice, nor at one that is not meant: a list shows a thousand schedules', () => {
  const dates = Temporal.PlainDate.prototype as unknown as { add: (this: unknown, ...args: unknown[]) => unknown };
  const { add } = dates;
  let days = 0;
  dates.add = function (...args) {
    days += 1;
    return add.apply(this, args);
  };
  try {
    expect(next('0 0 29 feb *', 'America/New_York', '2026-11-21T00:00Z', 5)).toEqual(['2028-02-29T05:00']);
    expect(next('0 0 * * *', 'Europe/Berlin', '2026-11-21T00:00Z', 5)).toHaveLength(5);
  } finally {
    dates.add = add;
  }
  expect(days).toBeLessThan(10);
});

it('never comes where no month has the day', () => {
  expect(next('0 0 30 2 *', 'UTC', '2026-11-21T00:00Z')).toEqual([]);
  expect(next('0 0 31 4,6,9,11 *', 'UTC', '2026-11-21T00:00Z')).toEqual([]);
});

it.each([
  ['', 'must have five fields, not 0', 0],
  ['* * * *', 'must have five fields, not 4', 0],
  ['0 0 1 1 * 2027', 'must have five fields, not 6', 10],
  ['@daily', 'must have five fields, not 1', 0],
  ['60 * * * *', 'minute must be 0 to 59, not "60"', 0],
  ['* 24 * * *', 'hour must be 0 to 23, not "24"', 2],
  ['* * 0 * *', 'day of month must be 1 to 31, not "0"', 4],
  ['* * L * *', 'day of month must be 1 to 31, not "L"', 4],
  ['0  0  *  foo  *', 'month must be 1 to 12, not "foo"', 9],
  ['* * * * 8', 'day of week must be 0 to 7, not "8"', 8],
  ['* * * * FRI#2', 'day of week must be 0 to 7, not "FRI#2"', 8],
  ['5-1 * * * *', 'minute: 5 is greater than 1', 0],
  ['*/0 * * * *', 'minute: a step must be at least 1, not "0"', 0],
  ['1-2-3 * * * *', 'minute is invalid: "1-2-3"', 0],
  ['1,, * * * *', 'minute must be 0 to 59, not ""', 0],
  ['1/ * * * *', 'minute is invalid: "1/"', 0],
  ['-1 * * * *', 'minute must be 0 to 59, not ""', 0],
  ['1e1 * * * *', 'minute must be 0 to 59, not "1e1"', 0],
  ['H * * * *', 'minute must be 0 to 59, not "H"', 0],
])('refuses %j', (source, message, position) => {
  expect(parseCron(source)).toEqual({ ok: false, message: source === '1,, * * * *' ? expect.any(String) : message, position });
});

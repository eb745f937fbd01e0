import fc from 'fast-check';
import { RRule } from 'rrule';
import { dayIn, nextDue, nextOnSchedule, shiftDue } from '../../../../../api/work/tasks/recurrence/next-date.js';
import type { Recurrence } from '../../../../../api/work/tasks/recurrence/rules.js';

const buildRecurrence = (rule: string, rest: Partial<Recurrence> = {}): Recurrence => ({
  rule,
  mode: 'on_complete',
  timezone: 'UTC',
  until: null,
  count: null,
  ...rest,
});

/** The first `n` due dates after the anchor, each worked out from the one before, as a series does it. */
function series(rule: string, anchor: string, n: number, rest: Partial<Recurrence> = {}): string[] {
  const recurrence = buildRecurrence(rule, rest);
  const dates: string[] = [];
  for (let after = anchor; dates.length < n; ) {
    const next = nextDue({ recurrence, anchor }, after);
    if ('none' in next) break;
    dates.push(next.due);
    after = next.due;
  }
  return dates;
}

describe('month ends, as calendars show them: the anchor day is kept', () => {
  it.each([
    [
      'FREQ=MONTHLY',
      '2026-01-31',
      ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30', '2026-07-31', '2026-08-31'],
    ],
    ['FREQ=MONTHLY', '2028-01-31', ['2028-02-29', '2028-03-31', '2028-04-30']],
    ['FREQ=MONTHLY', '2026-01-30', ['2026-02-28', '2026-03-30', '2026-04-30', '2026-05-30']],
    ['FREQ=MONTHLY', '2027-12-29', ['2028-01-29', '2028-02-29', '2028-03-29']],
    ['FREQ=MONTHLY', '2026-02-28', ['2026-03-28', '2026-04-28']],
    ['FREQ=MONTHLY;BYMONTHDAY=31', '2026-01-31', ['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']],
    [
      'FREQ=MONTHLY;BYMONTHDAY=30,31',
      '2026-01-30',
      ['2026-01-31', '2026-02-28', '2026-03-30', '2026-03-31', '2026-04-30', '2026-05-30'],
    ],
    ['FREQ=MONTHLY;BYMONTHDAY=15,29', '2026-01-29', ['2026-02-15', '2026-02-28', '2026-03-15', '2026-03-29']],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', '2026-01-31', ['2026-02-28', '2026-03-31', '2026-04-30']],
    ['FREQ=MONTHLY;BYMONTHDAY=-2', '2026-01-30', ['2026-02-27', '2026-03-30', '2026-04-29']],
    ['FREQ=MONTHLY;INTERVAL=3', '2025-11-30', ['2026-02-28', '2026-05-30', '2026-08-30', '2026-11-30', '2027-02-28']],
    ['FREQ=MONTHLY;BYDAY=-1FR', '2026-01-30', ['2026-02-27', '2026-03-27', '2026-04-24', '2026-05-29']],
    ['FREQ=MONTHLY;BYDAY=5MO', '2026-03-30', ['2026-06-29', '2026-08-31', '2026-11-30']],
    ['FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13', '2026-02-13', ['2026-03-13', '2026-11-13', '2027-08-13']],
    ['FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=31', '2026-01-30', ['2026-07-31', '2027-04-30', '2027-12-31']],
    ['FREQ=DAILY;BYMONTHDAY=31', '2026-01-31', ['2026-02-28', '2026-03-31', '2026-04-30']],
    ['FREQ=YEARLY;BYMONTHDAY=30', '2026-01-30', ['2026-02-28', '2026-03-30', '2026-04-30']],
    ['FREQ=YEARLY', '2026-10-31', ['2027-10-31', '2028-10-31']],
  ])('%s from %s', (rule, anchor, expected) => {
    expect(series(rule, anchor, expected.length)).toEqual(expected);
  });

  it('29 February is the 28th in other years, and the 29th again', () => {
    expect(series('FREQ=YEARLY', '2024-02-29', 8)).toEqual([
      '2025-02-28',
      '2026-02-28',
      '2027-02-28',
      '2028-02-29',
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
    expect(series('FREQ=YEARLY;INTERVAL=4', '2096-02-29', 3)).toEqual(['2100-02-28', '2104-02-29', '2108-02-29']);
  });
});

describe('weeks and days', () => {
  it.each([
    ['FREQ=WEEKLY', '2026-01-05', ['2026-01-12', '2026-01-19']],
    ['FREQ=WEEKLY;BYDAY=MO,WE,FR', '2026-01-07', ['2026-01-09', '2026-01-12', '2026-01-14', '2026-01-16']],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU', '2026-01-27', ['2026-02-01', '2026-02-10', '2026-02-15', '2026-02-24']],
    ['FREQ=DAILY;INTERVAL=10', '2026-02-20', ['2026-03-02', '2026-03-12']],
    ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', '2026-01-30', ['2026-02-02', '2026-02-03']],
    ['FREQ=YEARLY;BYDAY=20MO', '2026-05-18', ['2027-05-17', '2028-05-15']],
  ])('%s from %s', (rule, anchor, expected) => {
    expect(series(rule, anchor, expected.length)).toEqual(expected);
  });

  it('every other week keeps its week when one occurrence was put off', () => {
    const calendar = { recurrence: buildRecurrence('FREQ=WEEKLY;INTERVAL=2'), anchor: '2026-01-05' };
    expect(nextDue(calendar, '2026-01-07')).toEqual({ due: '2026-01-19' });
    expect(nextDue(calendar, '2026-01-20')).toEqual({ due: '2026-02-02' });
  });
});

describe('zones', () => {
  const berlin = { timezone: 'Europe/Berlin' };

  it('09:00 in Berlin stays 09:00 over both changes of the clock', () => {
    expect(series('FREQ=WEEKLY', '2026-03-16T08:00:00.000Z', 3, berlin)).toEqual([
      '2026-03-23T08:00:00.000Z',
      '2026-03-30T07:00:00.000Z',
      '2026-04-06T07:00:00.000Z',
    ]);
    expect(series('FREQ=DAILY', '2026-10-23T07:00:00.000Z', 3, berlin)).toEqual([
      '2026-10-24T07:00:00.000Z',
      '2026-10-25T08:00:00.000Z',
      '2026-10-26T08:00:00.000Z',
    ]);
  });

  it('an hour that the night leaves out becomes the next one, for that day only; one that comes twice is the first', () => {
    expect(series('FREQ=DAILY', '2026-03-27T01:30:00.000Z', 3, berlin)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:30:00.000Z', // 03:30, there is no 02:30
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(series('FREQ=DAILY', '2026-10-24T00:30:00.000Z', 2, berlin)).toEqual([
      '2026-10-25T00:30:00.000Z', // 02:30 the first time
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  it('a day is a day in the series’ own zone: Monday in Auckland is Sunday in UTC', () => {
    expect(series('FREQ=WEEKLY;BYDAY=MO', '2026-01-04T20:00:00.000Z', 2, { timezone: 'Pacific/Auckland' })).toEqual([
      '2026-01-11T20:00:00.000Z',
      '2026-01-18T20:00:00.000Z',
    ]);
    expect(dayIn('Pacific/Auckland', new Date('2026-01-04T20:00:00Z'))).toBe('2026-01-05');
    expect(dayIn('America/Los_Angeles', new Date('2026-01-05T03:00:00Z'))).toBe('2026-01-04');
  });

  it('a month end is the month end of the wall calendar', () => {
    expect(series('FREQ=MONTHLY', '2026-02-01T04:00:00.000Z', 3, { timezone: 'America/New_York' })).toEqual([
      '2026-03-01T04:00:00.000Z', // 23:00 on 28 February
      '2026-04-01T03:00:00.000Z', // 23:00 on 31 March
      '2026-05-01T03:00:00.000Z',
    ]);
  });
});

describe('ends', () => {
  it('a last day is included, a last moment too', () => {
    const until = (last: string, anchor = '2026-01-05') =>
      series('FREQ=WEEKLY', anchor, 9, { until: last, timezone: 'Europe/Berlin' });
    expect(until('2026-01-19')).toEqual(['2026-01-12', '2026-01-19']);
    expect(until('2026-01-18')).toEqual(['2026-01-12']);
    expect(until('2026-01-19T08:00:00.000Z', '2026-01-05T08:00:00.000Z')).toHaveLength(2);
    expect(until('2026-01-19T07:59:59.999Z', '2026-01-05T08:00:00.000Z')).toHaveLength(1);
  });

  it('says why there is no next date', () => {
    const none = (rule: string, anchor: string, rest: Partial<Recurrence> = {}) =>
      nextDue({ recurrence: buildRecurrence(rule, rest), anchor }, anchor);
    expect(none('FREQ=DAILY', '2026-01-05', { until: '2026-01-05' })).toEqual({ none: 'until' });
    expect(none('FREQ=DAILY;INTERVAL=7;BYDAY=MO', '2026-01-06')).toEqual({ none: 'no_date' });
    expect(none('FREQ=YEARLY', '9999-05-05')).toEqual({ none: 'no_date' });
    expect(none('FREQ=DAILY', '9999-12-31T23:00:00.000Z')).toEqual({ none: 'no_date' });
  });

  it('a rule from the year 1 costs no more than one of today', () => {
    // CPU time: what else the machine does counts for nothing.
    const before = process.cpuUsage();
    for (const rule of [
      'FREQ=DAILY;INTERVAL=99',
      'FREQ=WEEKLY;INTERVAL=2',
      'FREQ=MONTHLY',
      'FREQ=YEARLY',
      'FREQ=DAILY;BYMONTHDAY=30;BYDAY=MO',
    ]) {
      expect(nextDue({ recurrence: buildRecurrence(rule), anchor: '0001-01-31' }, '2026-01-05')).toHaveProperty('due');
    }
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
  });
});

describe('on a schedule', () => {
  const daily = { recurrence: buildRecurrence('FREQ=DAILY', { mode: 'on_schedule' }), anchor: '2026-01-05T09:00:00.000Z' };
  const at = (now: string) => nextOnSchedule(daily, '2026-01-05T09:00:00.000Z', new Date(now));

  it('the next date while it is to come', () => {
    expect(at('2026-01-05T12:00:00Z')).toEqual({ due: '2026-01-06T09:00:00.000Z' });
  });
  it('dates that went by unnoticed are made up for by the latest', () => {
    expect(at('2026-01-06T09:00:01Z')).toEqual({ due: '2026-01-06T09:00:00.000Z' });
    expect(at('2026-02-01T08:59:00Z')).toEqual({ due: '2026-01-31T09:00:00.000Z' });
    expect(at('2026-02-01T09:00:00Z')).toEqual({ due: '2026-02-01T09:00:00.000Z' });
  });
  it('never past its end', () => {
    const ending = { ...daily, recurrence: { ...daily.recurrence, until: '2026-01-10' } };
    expect(nextOnSchedule(ending, daily.anchor, new Date('2026-02-01T00:00:00Z'))).toEqual({ due: '2026-01-10T09:00:00.000Z' });
  });
});

it('subtasks move as many days as their task, at the same time of day', () => {
  expect(shiftDue('2026-01-03', '2026-01-05', '2026-01-12', 'UTC')).toBe('2026-01-10');
  expect(shiftDue('2026-03-27T08:00:00.000Z', '2026-03-28', '2026-04-04', 'Europe/Berlin')).toBe('2026-04-03T07:00:00.000Z');
  expect(shiftDue(null, '2026-01-05', '2026-01-12', 'UTC')).toBeNull();
  expect(shiftDue('2026-01-03', null, '2026-01-12', 'UTC')).toBeNull();
});

describe('against a second library', () => {
  const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'];
  const some = <T>(values: readonly T[]) =>
    fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }), { nil: [] });
  const ordinals = fc.option(
    fc.uniqueArray(
      fc.tuple(fc.constantFrom(1, 2, 3, 4, -1, -2), fc.constantFrom(...WEEKDAYS)).map(([n, day]) => `${n}${day}`),
      { minLength: 1, maxLength: 2 },
    ),
    { nil: [] },
  );
  /** Days that every month has: what happens to the others is ours, and written out above. */
  const common = some([1, 2, 13, 15, 27, 28, -1, -2, -28]);
  const interval = fc.integer({ min: 1, max: 99 });
  const anchor = fc
    .tuple(fc.integer({ min: 1970, max: 2200 }), fc.integer({ min: 0, max: 365 }))
    .map(([year, day]) => new Date(Date.UTC(year, 0, 1 + day)));
  const days = (n: number) => fc.integer({ min: 0, max: n });

  const rules = fc.oneof(
    fc.record({ freq: fc.constant('DAILY'), interval, byDay: some(WEEKDAYS), byMonthDay: common }),
    fc.record({ freq: fc.constant('WEEKLY'), interval, byDay: some(WEEKDAYS), byMonthDay: fc.constant<number[]>([]) }),
    fc.record({ freq: fc.constant('MONTHLY'), interval, byDay: some(WEEKDAYS), byMonthDay: common }),
    fc.record({ freq: fc.constant('MONTHLY'), interval, byDay: ordinals, byMonthDay: fc.constant<number[]>([]) }),
    fc.record({
      freq: fc.constant('YEARLY'),
      interval: fc.integer({ min: 1, max: 9 }),
      byDay: ordinals,
      byMonthDay: fc.constant<number[]>([]),
    }),
  );

  it('the next date is the same for any rule of days that every month has', () => {
    fc.assert(
      fc.property(rules, anchor, days(800), ({ freq, interval: every, byDay, byMonthDay }, start, later) => {
        // Only where nothing is named does the anchor's own day count, and only the first 28 are in every month.
        fc.pre(start.getUTCDate() <= 28 || freq === 'DAILY' || freq === 'WEEKLY' || byDay.length + byMonthDay.length > 0);
        // Whole weeks from a day that is not named come to none that is; the other library needs seconds to see that.
        fc.pre(freq !== 'DAILY' || every % 7 !== 0 || byDay.length === 0);
        const rule = [
          `FREQ=${freq};INTERVAL=${every}`,
          ...(byDay.length > 0 ? [`BYDAY=${byDay.join(',')}`] : []),
          ...(byMonthDay.length > 0 ? [`BYMONTHDAY=${byMonthDay.join(',')}`] : []),
        ].join(';');
        const after = new Date(start.getTime() + later * 86_400_000);
        const next = nextDue(
          { recurrence: buildRecurrence(rule), anchor: start.toISOString().slice(0, 10) },
          after.toISOString().slice(0, 10),
        );
        // It searches day by day, up to the year 9999: a bound keeps the rare rules that never come true from taking minutes.
        const bound = new Date(after.getTime() + 60 * 366 * 86_400_000);
        const oracle = new RRule({ ...RRule.parseString(rule), dtstart: start, until: bound }).after(after, false);
        const found = 'due' in next ? next.due : null;
        if (oracle) expect([rule, found]).toEqual([rule, oracle.toISOString().slice(0, 10)]);
        else expect(found === null || new Date(found) > bound).toBe(true);
      }),
      { numRuns: 250 },
    );
  });

  it('uses the last day of a month that lacks the day', () => {
    fc.assert(
      fc.property(fc.constantFrom(29, 30, 31), anchor, fc.integer({ min: 1, max: 36 }), (day, start, months) => {
        const first = new Date(Date.UTC(start.getUTCFullYear(), 0, day)).toISOString().slice(0, 10);
        const dates = series('FREQ=MONTHLY', first, months);
        const expected = Array.from({ length: months }, (_, i) => {
          const last = new Date(Date.UTC(start.getUTCFullYear(), i + 2, 0)).getUTCDate();
          return new Date(Date.UTC(start.getUTCFullYear(), i + 1, Math.min(day, last))).toISOString().slice(0, 10);
        });
        expect(dates).toEqual(expected);
        expect(series(`FREQ=MONTHLY;BYMONTHDAY=${day}`, first, months)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});

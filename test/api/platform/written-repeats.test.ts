import { readLeadingRepeat, readRepeat, toRule, type WrittenRepeat } from '../../../api/platform/written-repeats.js';

/** A Thursday. */
const TODAY = '2026-11-26';
const read = (text: string) => readRepeat(text, TODAY);
const parsed = (text: string): WrittenRepeat => {
  const found = read(text);
  if (typeof found !== 'object') throw new Error(`${text} is ${String(found)}`);
  return found;
};

describe('a repeat', () => {
  it.each([
    ['every day', 'FREQ=DAILY'],
    ['Daily', 'FREQ=DAILY'],
    ['each day', 'FREQ=DAILY'],
    ['every other day', 'FREQ=DAILY;INTERVAL=2'],
    ['every second day', 'FREQ=DAILY;INTERVAL=2'],
    ['every 3 days', 'FREQ=DAILY;INTERVAL=3'],
    ['every three days', 'FREQ=DAILY;INTERVAL=3'],
    ['every weekday', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
    ['every working day', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
    ['on weekdays', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
    ['every week on weekdays', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
    ['every weekend', 'FREQ=WEEKLY;BYDAY=SA'],
    ['every monday', 'FREQ=WEEKLY;BYDAY=MO'],
    ['Every Monday.', 'FREQ=WEEKLY;BYDAY=MO'],
    ['every mon', 'FREQ=WEEKLY;BYDAY=MO'],
    ['on mondays', 'FREQ=WEEKLY;BYDAY=MO'],
    ['mondays and thursdays', 'FREQ=WEEKLY;BYDAY=MO,TH'],
    ['every monday, wednesday and friday', 'FREQ=WEEKLY;BYDAY=MO,WE,FR'],
    ['every other monday', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO'],
    ['every week', 'FREQ=WEEKLY'],
    ['weekly on friday', 'FREQ=WEEKLY;BYDAY=FR'],
    ['every week on monday and friday', 'FREQ=WEEKLY;BYDAY=MO,FR'],
    ['every 2 weeks', 'FREQ=WEEKLY;INTERVAL=2'],
    ['every fortnight', 'FREQ=WEEKLY;INTERVAL=2'],
    ['every 2 weeks on tuesday', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU'],
    ['monthly', 'FREQ=MONTHLY'],
    ['monthly on the 1st', 'FREQ=MONTHLY;BYMONTHDAY=1'],
    ['every month on the 1st and 15th', 'FREQ=MONTHLY;BYMONTHDAY=1,15'],
    ['every 15th', 'FREQ=MONTHLY;BYMONTHDAY=15'],
    ['on the first of the month', 'FREQ=MONTHLY;BYMONTHDAY=1'],
    ['on the 1st of every month', 'FREQ=MONTHLY;BYMONTHDAY=1'],
    ['every last day of the month', 'FREQ=MONTHLY;BYMONTHDAY=-1'],
    ['every first day of the month', 'FREQ=MONTHLY;BYMONTHDAY=1'],
    ['every month on the last day', 'FREQ=MONTHLY;BYMONTHDAY=-1'],
    ['every month on the last friday', 'FREQ=MONTHLY;BYDAY=-1FR'],
    ['every first monday', 'FREQ=MONTHLY;BYDAY=1MO'],
    ['every last friday', 'FREQ=MONTHLY;BYDAY=-1FR'],
    ['every second monday of the month', 'FREQ=MONTHLY;BYDAY=2MO'],
    ['quarterly on the 1st', 'FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1'],
    ['every 2 months on the 2nd to last day', 'FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-2'],
    ['every year', 'FREQ=YEARLY'],
    ['yearly on 25 december', 'FREQ=YEARLY'],
  ])('“%s” is %s', (text, rule) => {
    expect(toRule(parsed(text))).toBe(rule);
  });

  it('reads a first day, an end, a time, and whether it waits for the one before', () => {
    expect(parsed('every year on 25 december')).toMatchObject({ unit: 'year', start: '2026-12-25' });
    expect(parsed('every 5 january')).toMatchObject({ unit: 'year', start: '2027-01-05' });
    expect(parsed('every 2 weeks starting 7 dec')).toMatchObject({ every: 2, start: '2026-12-07' });
    expect(parsed('every day until 31 dec')).toMatchObject({ until: '2026-12-31', count: null });
    expect(parsed('every monday, 10 times, done or not')).toMatchObject({ count: 10, onSchedule: true });
    expect(parsed('every monday, after the last one is done')).toMatchObject({ onSchedule: false });
    for (const [text, time] of [
      ['every monday at 9', '09:00'],
      ['every monday at 9:30', '09:30'],
      ['every monday at 5pm', '17:00'],
      ['every monday at 12 am', '00:00'],
      ['every monday 18:15', '18:15'],
      ['every day at noon', '12:00'],
    ] as const)
      expect(parsed(text).time).toBe(time);
    expect([parsed('every 15 minutes').unit, parsed('hourly').unit, parsed('every 2 hours').every]).toEqual([
      'minute',
      'hour',
      2,
    ]);
    expect([toRule(parsed('every hour')), toRule(parsed('every 5 minutes'))]).toEqual([undefined, undefined]);
  });

  it.each([
    'every 0 days',
    'every 100 weeks',
    'every 32nd',
    'monthly on the 40th',
    'every day until 31 dec 10 times',
    'every day 0 times',
  ])('“%s” is none of a calendar', (text) => {
    expect(read(text)).toBe('impossible');
  });

  it.each(['every second monday', 'every 3rd friday'])('“%s” has two meanings', (text) => {
    expect(read(text)).toBe('unclear');
  });

  it.each([
    '',
    'monday',
    'every',
    'every door',
    'every second path',
    'every month on monday',
    'on the 1st',
    'every day at 25',
    'every day at 9:75',
    'every monday and then',
    `every ${'monday '.repeat(80)}`,
  ])('“%s” is none', (text) => {
    expect(read(text)).toBeUndefined();
  });
});

it('takes the longest repeat at the beginning of a list of words', () => {
  const lead = (text: string) => readLeadingRepeat(text.split(' '), TODAY)?.words;
  expect(lead('every monday the plants')).toBe(2);
  expect(lead('every week on budgets')).toBe(2);
  expect(lead('every week on monday and tell max')).toBe(4);
  expect(lead('monthly on the 1st of the month for all')).toBe(7);
  expect(lead('the plants every monday')).toBeUndefined();
});

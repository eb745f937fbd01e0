import { readDate, readDuration, readLeadingDay } from '../../../api/platform/written-days.js';
import { readRange } from '../../../api/platform/written-ranges.js';

/** A Thursday. */
const TODAY = '2026-11-26';
const wordsOf = (text: string): string[] => text.split(' ');

it.each([
  ['thurs', '2026-12-03'],
  ['tmr', '2026-11-27'],
  ['end of december', '2026-12-31'],
  ['the 15th', '2026-12-15'],
  ['5.12.2026', '2026-12-05'],
  ['in 999 weeks', '2046-01-18'],
])('reads %s as the day %s', (text, date) => {
  expect(readDate(wordsOf(text), TODAY)).toEqual({ date });
});

it('takes the next 29 February that there is soon, and says that there is none', () => {
  expect(readDate(['29', 'feb'], '2027-12-31')).toEqual({ date: '2028-02-29' });
  expect(readDate(['29', 'feb'], TODAY)).toBe('impossible');
});

it.each(['a week from 2026-02-30', 'in 3 days from 31 feb', 'in 9999 days', 'a year from 9999-12-31'])(
  '%s is a day that no calendar has',
  (text) => {
    expect(readDate(wordsOf(text), TODAY)).toBe('impossible');
  },
);

it.each(['0050-01-01', '1 feb 0050', 'x from 2026-02-30', 'in days', 'constructor', 'toString'])('%s is no day', (text) => {
  expect([readDate(wordsOf(text), TODAY), readRange(wordsOf(text), TODAY)]).toEqual([undefined, undefined]);
});

it('a length of time has a bound', () => {
  expect([readDuration(['999', 'years']), readDuration(['1000', 'years'])]).toEqual([{ days: 0, months: 11_988 }, undefined]);
});

it.each([
  ['after next week', { from: '2026-12-07' }],
  ['after the weekend', { from: '2026-11-30' }],
  ['after friday', { from: '2026-11-28' }],
  ['before next week', { to: '2026-11-29' }],
  ['since last week', { from: '2026-11-16' }],
  ['by next week', { to: '2026-11-30' }],
  ['next week', { from: '2026-11-30', to: '2026-12-06' }],
])('%s is a range of whole days', (text, range) => {
  expect(readRange(wordsOf(text), TODAY)).toEqual(range);
});

it('takes the longest day that words begin with, and never none', () => {
  expect(readLeadingDay(wordsOf('friday next week with paint'), TODAY)).toEqual({ day: '2026-12-04', words: 3 });
  expect([readLeadingDay(['never'], TODAY), readLeadingDay([], TODAY), readLeadingDay(['31', 'feb'], TODAY)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

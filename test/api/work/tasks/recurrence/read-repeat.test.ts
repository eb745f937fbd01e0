import { ruleInWords } from '../../../../../api/work/tasks/recurrence/describe-rule.js';
import { readRecurrence } from '../../../../../api/work/tasks/recurrence/read-repeat.js';

/** A Thursday. */
const TODAY = '2026-11-26';
const read = (text: string) => readRecurrence(text, TODAY, 'Europe/Berlin');

it.each([
  ['every day', 'FREQ=DAILY', '2026-11-26'],
  ['every monday', 'FREQ=WEEKLY;BYDAY=MO', '2026-11-30'],
  ['every thursday', 'FREQ=WEEKLY;BYDAY=TH', '2026-11-26'],
  ['every other monday', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO', '2026-11-30'],
  ['monthly on the 1st', 'FREQ=MONTHLY;BYMONTHDAY=1', '2026-12-01'],
  ['quarterly on the last day', 'FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1', '2026-11-30'],
  ['every year on 5 march', 'FREQ=YEARLY', '2027-03-05'],
  ['every week starting 7 dec', 'FREQ=WEEKLY', '2026-12-07'],
])('“%s” is %s, first on %s', (text, rule, due) => {
  expect(read(text)).toEqual({
    recurrence: { rule, mode: 'on_complete', timezone: 'Europe/Berlin', until: null, count: null },
    due,
  });
});

it('reads its own words again, so a page can show and take the same text', () => {
  for (const text of [
    'every 2 weeks on monday and friday, 10 times, done or not',
    'every month on the 1st, 15th and the last day, until 31 dec 2027',
    'every month on the last friday and the 2nd tuesday',
    'every weekday',
    'every 3 months on the 2nd to last day',
    'every year',
    'every 10 days, 100000 times',
  ]) {
    const first = read(text);
    if ('problem' in first) throw new Error(first.problem);
    expect(read(ruleInWords(first.recurrence))).toMatchObject({ recurrence: first.recurrence });
  }
});

it.each([
  ['sometimes', '“sometimes” is no repeat: write every monday, every 2 weeks or monthly on the 1st'],
  ['every hour', 'A task repeats every day at most; an automation can run more often'],
  ['every friday at 9:00', 'A task repeats on days, without a time: leave out the time of “every friday at 9:00”'],
  ['every 32nd', '“every 32nd” is no repeat of a calendar: write every monday, every 2 weeks or monthly on the 1st'],
  [
    'every second monday',
    '“every second monday” can mean two things: write every other monday, or every second monday of the month',
  ],
  ['every monday until 27 nov', '“every monday until 27 nov” ends before its first day'],
])('says why “%s” is refused', (text, problem) => {
  expect(read(text)).toEqual({ problem });
});

import { howOften, ruleInWords } from '../../../../../api/work/tasks/recurrence/describe-rule.js';

it.each([
  ['FREQ=DAILY', 'on_complete', 'Every day, after the last one is done'],
  ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE,FR', 'on_schedule', 'Every 2 weeks on Monday, Wednesday, and Friday, done or not'],
  ['FREQ=MONTHLY;BYDAY=2MO,-1FR', 'on_schedule', 'Every month on the 2nd Monday and the last Friday, done or not'],
  [
    'FREQ=MONTHLY;BYMONTHDAY=1,22,-3',
    'on_complete',
    'Every month on the 1st, the 22nd, and the 3rd to last day, after the last one is done',
  ],
  ['FREQ=MONTHLY;COUNT=3', 'on_complete', 'Every month, 3 times, after the last one is done'],
  ['FREQ=YEARLY;UNTIL=20301231T210000Z', 'on_complete', 'Every year, until 2030-12-31, after the last one is done'],
  ['FREQ=HOURLY', 'on_complete', 'FREQ=HOURLY'],
] as const)('%s, %s is "%s"', (rule, mode, words) => {
  expect(ruleInWords({ rule, mode })).toBe(words);
});

it.each([
  ['FREQ=DAILY', 'daily'],
  ['FREQ=WEEKLY;BYDAY=MO', 'weekly'],
  ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 'on weekdays'],
  ['FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1', 'every 3 months'],
  ['FREQ=YEARLY', 'yearly'],
  ['nonsense', 'nonsense'],
])('%s is %s in a mark', (rule, words) => {
  expect(howOften({ rule })).toBe(words);
});

import { readSchedule, scheduleInWords } from '../../../../api/automation/definitions/schedule/written-schedule.js';

const read = (text: string) => readSchedule(text, '2026-11-26');

it.each([
  ['every monday at 9:00', '0 9 * * MON', 'every Monday at 9:00'],
  ['on the first of the month at 8', '0 8 1 * *', 'on the 1st of every month at 8:00'],
  ['monthly on the 1st and 15th at 8:30', '30 8 1,15 * *', 'on the 1st and 15th of every month at 8:30'],
  ['every weekday at 5pm', '0 17 * * MON,TUE,WED,THU,FRI', 'every weekday at 17:00'],
  ['every monday and friday at noon', '0 12 * * MON,FRI', 'every Monday and Friday at 12:00'],
  ['every day at 0:05', '5 0 * * *', 'every day at 0:05'],
  ['every 15 minutes', '*/15 * * * *', 'every 15 minutes'],
  ['every hour', '0 * * * *', 'every hour'],
  ['every 2 hours', '0 */2 * * *', 'every 2 hours'],
  ['quarterly on the 1st at 9', '0 9 1 */3 *', null],
  ['every year on 1 december at 9', '0 9 1 12 *', null],
])('“%s” is %s, and reads %s', (text, cron, words) => {
  expect(read(text)).toEqual({ cron });
  expect(scheduleInWords(cron)).toBe(words);
});

it('leaves cron as it is', () => {
  for (const cron of ['', '0 9 * * MON-FRI', '*/5 * * * *', '1 2 3']) expect(read(` ${cron}`)).toEqual({ cron });
  expect(scheduleInWords('0 9 * * MON-FRI')).toBe('every weekday at 9:00');
  for (const cron of ['0,30 8,9,10 * * *', '0 9 1 * MON', '0 9 1-7 * *x', '7 */5 * * *'])
    expect(scheduleInWords(cron)).toBeNull();
});

it.each([
  ['every monday', 'Say at which time: add “at 9:00”'],
  ['every week at 9', 'Say on which day of the week: add “on monday”'],
  ['monthly at 9', 'Say on which day of the month: add “on the 1st”'],
  ['every year at 9', 'Say on which day of the year: add “on 1 december”'],
  ['every 7 minutes', 'A schedule cannot run every 7 minutes: choose a number that divides 60'],
  ['every 5 hours', 'A schedule cannot run every 5 hours: choose a number that divides 24'],
  ['every 2 hours at 9:30', 'A schedule of hours begins at the full hour: leave out the time of day'],
  ['every 15 minutes at 9', 'A schedule of minutes begins at the full hour: leave out the time of day'],
  ['every 2 weeks on monday at 9', 'A schedule cannot skip weeks: choose days of the week or of the month'],
  ['every last day of the month at 9', 'A schedule cannot count days from the end of a month: choose the 28th, or the 1st'],
  ['every first monday at 9', 'A schedule cannot count the weeks of a month: choose days of the month, or every week'],
  ['every day at 9 until 31 dec', 'A schedule has no end: disable the automation instead'],
  ['every day at 9 starting 1 dec', 'A schedule starts when the automation is enabled'],
  [
    'every second monday',
    '“every second monday” can mean two things: write every monday at 9:00, every 15 minutes, or the five fields of cron',
  ],
  ['noon', '“noon” is no schedule: write every monday at 9:00, every 15 minutes, or the five fields of cron'],
])('says what “%s” lacks', (text, problem) => {
  expect(read(text)).toEqual({ problem });
});

import { normaliseRule, parseRule } from '../../../../../api/work/tasks/recurrence/rules.js';
import { Recurrence } from '../../../../../api/work/tasks/recurrence/schema.js';

const given = { rule: 'FREQ=WEEKLY;BYDAY=MO', mode: 'on_complete', timezone: 'Europe/Berlin' };
const refused = (value: object): string[] => {
  const result = Recurrence.safeParse({ ...given, ...value });
  return result.success ? [] : result.error.issues.map((issue) => issue.path.join('.'));
};

it.each([
  'FREQ=DAILY',
  'FREQ=WEEKLY;INTERVAL=99;BYDAY=MO,SU',
  'FREQ=MONTHLY;BYDAY=1MO,-1FR,+2TU',
  'FREQ=MONTHLY;BYMONTHDAY=1,15,31,-1,-31',
  'FREQ=YEARLY;BYDAY=52SU',
  'INTERVAL=2;FREQ=DAILY;COUNT=1',
  'FREQ=DAILY;UNTIL=20261231',
  'FREQ=DAILY;UNTIL=20261231T215959Z',
])('takes %s', (rule) => {
  expect(parseRule(rule)).toEqual(expect.objectContaining({ freq: expect.any(String) }));
  expect(refused({ rule })).toEqual([]);
});

it.each([
  '',
  'INTERVAL=2',
  'FREQ=HOURLY',
  'FREQ=SECONDLY',
  'FREQ=DAILY;FREQ=DAILY',
  'FREQ=DAILY;',
  'FREQ=DAILY;INTERVAL=0',
  'FREQ=DAILY;INTERVAL=100',
  'FREQ=DAILY;INTERVAL=-1',
  'FREQ=DAILY;INTERVAL=1.5',
  'FREQ=DAILY;BYHOUR=9',
  'FREQ=DAILY;BYSETPOS=1',
  'FREQ=YEARLY;BYMONTH=2',
  'FREQ=WEEKLY;WKST=SU',
  'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD',
  'FREQ=WEEKLY;BYDAY=',
  'FREQ=WEEKLY;BYDAY=XX',
  'FREQ=WEEKLY;BYDAY=1MO',
  'FREQ=DAILY;BYDAY=-1MO',
  'FREQ=MONTHLY;BYDAY=6MO',
  'FREQ=MONTHLY;BYDAY=0MO',
  'FREQ=YEARLY;BYDAY=53MO',
  'FREQ=MONTHLY;BYDAY=1MO;BYMONTHDAY=3',
  'FREQ=WEEKLY;BYMONTHDAY=3',
  'FREQ=MONTHLY;BYMONTHDAY=0',
  'FREQ=MONTHLY;BYMONTHDAY=32',
  'FREQ=MONTHLY;BYMONTHDAY=-32',
  'FREQ=DAILY;COUNT=0',
  'FREQ=DAILY;COUNT=1000000',
  'FREQ=DAILY;COUNT=2;UNTIL=20261231',
  'FREQ=DAILY;UNTIL=2026-12-31',
  'FREQ=DAILY;UNTIL=20261231T090000',
  'FREQ=DAILY;UNTIL=20260230',
  'FREQ=DAILY=WEEKLY',
  'DTSTART:20260101\nRRULE:FREQ=DAILY',
  '__proto__=1;FREQ=DAILY',
  'constructor=1;FREQ=DAILY',
])('refuses %j', (rule) => {
  expect(refused({ rule })).toEqual(['rule']);
});

it('the rule is kept as it was sent, in upper case and without the property’s name', () => {
  expect(normaliseRule(' rrule:freq=weekly;byday=mo ')).toBe('FREQ=WEEKLY;BYDAY=MO');
});

it('an end may stand in the rule or beside it, and what is shown may be sent back', () => {
  const stored = Recurrence.parse({ ...given, rule: 'FREQ=DAILY;COUNT=3' });
  expect(stored).toEqual({ ...given, rule: 'FREQ=DAILY;COUNT=3', until: null, count: 3 });
  expect(Recurrence.parse(stored)).toEqual(stored);
  const dated = Recurrence.parse({ ...given, until: '2026-12-31T23:59:59+01:00' });
  expect(dated).toEqual({ ...given, until: '2026-12-31T22:59:59.000Z', count: null });
  expect(Recurrence.parse(dated)).toEqual(dated);
  expect(Recurrence.parse({ ...given, rule: 'FREQ=DAILY;UNTIL=20261231' }).until).toBe('2026-12-31');
});

it('refuses what contradicts itself, and every field that is wrong', () => {
  expect(refused({ rule: 'FREQ=DAILY;COUNT=3', count: 4 })).toEqual(['count']);
  expect(refused({ rule: 'FREQ=DAILY;UNTIL=20261231', until: '2026-12-30' })).toEqual(['until']);
  expect(refused({ count: 3, until: '2026-12-30' })).toEqual(['count']);
  expect(refused({ rule: 'FREQ=DAILY;COUNT=3', until: '2026-12-30' })).toEqual(['count']);
  expect(refused({ until: '2026-02-30' })).toEqual(['until']);
  expect(refused({ count: 0 })).toEqual(['count']);
  expect(refused({ count: 1.5 })).toEqual(['count']);
  expect(refused({ mode: 'sometimes', timezone: 'Mars/Olympus' })).toEqual(['mode', 'timezone']);
  expect(refused({ timezone: '+01:00' })).toEqual(['timezone']);
  expect(refused({ timezone: 'JST' })).toEqual(['timezone']);
  expect(refused({ timezone: undefined })).toEqual(['timezone']);
  expect(refused({ timezone: '../etc/passwd' })).toEqual(['timezone']);
});

it('spells the time zone as the tz database does', () => {
  expect(Recurrence.parse({ ...given, timezone: 'america/argentina/la_rioja' }).timezone).toBe('America/Argentina/La_Rioja');
  expect(Recurrence.parse({ ...given, timezone: 'asia/kolkata' }).timezone).toBe('Asia/Kolkata');
});

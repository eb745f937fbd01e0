import { zoneNamed } from '../../../api/platform/time-zones.js';
import { startApp, type TestApp } from '../../support/app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const isInIntl = (zone: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
};

it('every name of the tz database is known in any case, and comes back as the database spells it', async () => {
  // PostgreSQL brings the database along. Its own may be newer than the one of Node.
  const { rows } = await app.services.db.raw<{ rows: { name: string }[] }>('select name from pg_timezone_names');
  const names = rows.map(({ name }) => name).filter(isInIntl);
  expect(names.length).toBeGreaterThan(590);
  expect(names).toEqual(expect.arrayContaining(['UTC', 'GMT', 'EST', 'US/Pacific', 'Asia/Kolkata', 'Asia/Calcutta', 'GB-Eire']));
  for (const spelled of [(name: string) => name, (name: string) => name.toLowerCase(), (name: string) => name.toUpperCase()])
    expect(names.filter((name) => zoneNamed(spelled(name)) !== name)).toEqual([]);
});

it('knows every time zone of Node', () => {
  expect(Intl.supportedValuesOf('timeZone').filter((zone) => zoneNamed(zone) !== zone)).toEqual([]);
});

const ABBREVIATIONS = ['JST', 'PST', 'CST', 'IST', 'ACT', 'AGT', 'CNT', 'PRT', 'VST', 'NST', 'bst'];
const OF_ICU = ['SystemV/EST5', 'systemv/pst8pdt', 'US/Pacific-New', 'canada/east-saskatchewan'];
it.each([...ABBREVIATIONS, ...OF_ICU])('%s is no IANA name, though Node takes it', (name) => {
  expect(isInIntl(name)).toBe(true);
  expect(zoneNamed(name)).toBeUndefined();
});

const OFFSETS = ['+02:00', '-0330', 'UTC+1', 'Z'];
const STRANGE = ['', ' ', 'Mars/Olympus', 'Etc/Unknown', 'localtime', 'posix/Europe/Berlin', '../etc/passwd', 'Europe/Berlin '];
const TRICKS = ['2020-01-01T00:00[Europe/Berlin]', 'Europe/Berlin\0', 'a\u017fia/tokyo'];
it.each([...OFFSETS, ...STRANGE, ...TRICKS])('%j names no zone', (name) => {
  expect(zoneNamed(name)).toBeUndefined();
});

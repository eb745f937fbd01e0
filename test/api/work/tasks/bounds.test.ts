/** Every limit of a task at its boundary and one past it, on every route that takes the field. */
import { taskWorld } from './world.js';

const world = taskWorld();

const many = (count: number, of = (i: number) => `t${i}`) => Array.from({ length: count }, (_, i) => of(i));
const EMOJI = '👍';
const FAMILY = '👩‍👩‍👧‍👦';
const ACCENTED = 'e\u0301';

type Row = [what: string, field: string, value: unknown, expected: number];

const TITLES: Row[] = [
  ['one character', 'title', 'x', 200],
  ['200 characters', 'title', 'x'.repeat(200), 200],
  ['201 characters', 'title', 'x'.repeat(201), 422],
  ['200 characters and blanks around them', 'title', ` \t\n${'x'.repeat(200)}\u00a0\u3000 `, 200],
  ['200 emoji', 'title', EMOJI.repeat(200), 200],
  ['201 emoji', 'title', EMOJI.repeat(201), 422],
  ['200 code points of joined emoji', 'title', `${FAMILY.repeat(28)}abcd`, 200],
  ['201 code points of joined emoji', 'title', `${FAMILY.repeat(28)}abcde`, 422],
  ['100 letters with combining marks', 'title', ACCENTED.repeat(100), 200],
  ['100 letters with combining marks, and one more', 'title', `${ACCENTED.repeat(100)}x`, 422],
  ['nothing', 'title', '', 422],
  ['blanks only', 'title', ' \t\u00a0\u2003 ', 422],
  ['nothing to see', 'title', '\u200b\u200d\ufeff', 422],
];
const TEXTS: Row[] = [
  ['2,000 characters', 'description', 'x'.repeat(2000), 200],
  ['2,001 characters', 'description', 'x'.repeat(2001), 422],
  ['2,000 emoji', 'description', EMOJI.repeat(2000), 200],
  ['2,001 emoji', 'description', EMOJI.repeat(2001), 422],
  ['1,000 letters with combining marks', 'description', ACCENTED.repeat(1000), 200],
  ['1,000 letters with combining marks, and one more', 'description', `${ACCENTED.repeat(1000)}x`, 422],
];
const TAGS: Row[] = [
  ['none', 'tags', [], 200],
  ['20', 'tags', many(20), 200],
  ['21', 'tags', many(21), 422],
  ['20 and repeats, which do not count', 'tags', [...many(20), ...many(20, (i) => ` t${i} `)], 200],
  ['one of 50 characters', 'tags', ['x'.repeat(50)], 200],
  ['one of 51 characters', 'tags', ['x'.repeat(51)], 422],
  ['one of 50 emoji', 'tags', [EMOJI.repeat(50)], 200],
  ['one of 51 emoji', 'tags', [EMOJI.repeat(51)], 422],
  ['one of 25 letters with combining marks', 'tags', [ACCENTED.repeat(25)], 200],
  ['one of 25 letters with combining marks, and one more', 'tags', [`${ACCENTED.repeat(25)}x`], 422],
  ['one of 50 characters and blanks around them', 'tags', [` ${'x'.repeat(50)} `], 200],
  ['an empty one', 'tags', [''], 422],
  ['a blank one', 'tags', ['a', ' '], 422],
];
const HOURS: Row[] = [
  ['0', 'estimated_hours', 0, 200],
  ['1000', 'estimated_hours', 1000, 200],
  ['a hair under 1000', 'estimated_hours', 999.999999, 200],
  ['a hair over 1000', 'estimated_hours', 1000.000001, 422],
  ['1001', 'estimated_hours', 1001, 422],
  ['a hair under 0', 'estimated_hours', -0.000001, 422],
  ['text', 'estimated_hours', '5', 422],
];
const POINTS: Row[] = [
  ['0', 'estimate', 0, 200],
  ['999', 'estimate', 999, 200],
  ['1000', 'estimate', 1000, 422],
  ['less than 0', 'estimate', -1, 422],
  ['half a point', 'estimate', 0.5, 422],
  ['more than the column holds', 'estimate', 2 ** 31, 422],
  ['text', 'estimate', '5', 422],
  ['a list', 'estimate', [5], 422],
  ['yes', 'estimate', true, 422],
];
const DATES: Row[] = [
  ['the first day', 'due_date', '0001-01-01', 200],
  ['the day before the first', 'due_date', '0000-12-31', 400],
  ['the last moment', 'due_date', '9999-12-31T23:59:59.999Z', 200],
  ['after the last moment', 'due_date', '9999-12-31T23:59:59-00:01', 400],
  ['a year of five digits', 'due_date', '10000-01-01', 400],
  ['a leap day', 'due_date', '2028-02-29', 200],
  ['a leap day that is none', 'due_date', '2027-02-29', 400],
  ['the farthest zones', 'due_date', '2026-11-20T12:00:00+14:00', 200],
  ['farther than any zone', 'due_date', '2026-11-20T12:00:00+14:01', 400],
  ['a leap second', 'due_date', '2016-12-31T23:59:60Z', 400],
  ['24 o’clock', 'due_date', '2026-11-20T24:00:00Z', 400],
  ['what PostgreSQL takes', 'due_date', 'infinity', 400],
  ['what JavaScript takes', 'due_date', 'March 3', 400],
  ['a number', 'due_date', 1, 422],
];
const STATES: Row[] = [
  ['hyphens and case', 'status', ' In-Review ', 200],
  ['a fifth one', 'status', 'blocked', 422],
  ['case', 'priority', 'HIGH', 200],
  ['a fifth one', 'priority', 'critical', 422],
];
const EVERYWHERE = [...TITLES, ...TEXTS, ...TAGS, ...HOURS, ...POINTS, ...DATES, ...STATES];

describe('on create, update and bulk alike', () => {
  it.each(EVERYWHERE)('%s for %s', async (_what, field, value, expected) => {
    const created = await world.member.post('/api/tasks', { title: 'x', ...world.project, [field]: value });
    expect(created.status).toBe(expected === 200 ? 201 : expected);
    const task = await world.make();
    expect((await world.member.patch(`/api/tasks/${task.task_id}`, { [field]: value })).status).toBe(expected);
    const bulk = await world.member.post('/api/tasks/bulk?atomic=true', [{ title: 'x', ...world.project, [field]: value }]);
    expect(bulk.status).toBe(expected);
    if (expected !== 200) return;
    const read = await world.read(task.task_id);
    expect(read[field]).toEqual(created.body.data[field]);
    expect(read[field]).toEqual(bulk.body.results[0].data[field]);
    if (field === 'title') expect(read['title']).toBe((value as string).trim());
  });
});

describe('on create only: task_id', () => {
  const unique = (length: number) => `${world.team.team_id}${'x'.repeat(length)}`.slice(0, length);
  it.each([
    ['128 characters', (): string => unique(128), 201],
    ['129 characters', (): string => unique(129), 422],
    ['one character', (): string => '_', 201],
    ['every kind of character', (): string => `A_z.0:9@-${unique(40)}`, 201],
    ['nothing', (): string => '', 422],
    ['a dot first', (): string => '.a', 422],
    ['a hyphen first', (): string => '-a', 422],
    ['a slash', (): string => 'a/b', 422],
    ['a blank', (): string => 'a b', 422],
    ['a letter with a mark', (): string => 'é', 422],
    ['a line end behind it', (): string => 'a\n', 422],
    ...['my', 'bulk', 'relations', 'cycle-time'].map((word) => [`the reserved ${word}`, (): string => word, 422] as const),
  ] as const)('%s', async (_what, getId, expected) => {
    const task_id = getId();
    const answer = await world.member.post('/api/tasks', { title: 'x', ...world.project, task_id });
    expect(answer.status).toBe(expected);
    const bulk = await world.member.post('/api/tasks/bulk?atomic=true', [{ title: 'x', ...world.project, task_id }]);
    expect(bulk.status).toBe(expected === 201 ? 200 : 422);
    if (expected === 201)
      expect((await world.member.get(`/api/tasks/${encodeURIComponent(task_id)}`)).body.task_id).toBe(task_id);
  });
});

describe('on update only', () => {
  it.each([
    ['0 hours', { actual_hours: 0 }, 200],
    ['more hours than a year has', { actual_hours: 100_000.25 }, 200],
    ['less than 0 hours', { actual_hours: -0.01 }, 422],
    ['a position below 0', { position: -1.5 }, 200],
    ['the largest position', { position: Number.MAX_VALUE }, 200],
    ['a position that is text', { position: '1' }, 422],
    ['version 0', { version: 0 }, 422],
    ['version 1', { version: 1, title: 'y' }, 200],
    ['the largest version', { version: 2_147_483_647 }, 409],
    ['one more', { version: 2_147_483_648 }, 422],
    ['half a version', { version: 1.5 }, 422],
    ['a version that is text', { version: '1' }, 422],
    ['archived, as text', { is_archived: 'false' }, 422],
  ])('%s', async (_what, fields, expected) => {
    const task = await world.make();
    const answer = await world.member.patch(`/api/tasks/${task.task_id}`, fields);
    expect(answer.status).toBe(expected);
    if (expected === 200) {
      const { version: _version, ...kept } = fields as Record<string, unknown>;
      expect(await world.read(task.task_id)).toMatchObject(kept);
    }
  });

  it('numbers that JSON can write and no number can hold', async () => {
    const task = await world.make();
    for (const field of ['position', 'actual_hours', 'estimated_hours', 'estimate', 'version']) {
      const answer = await world.member.patch(`/api/tasks/${task.task_id}`, undefined, { raw: `{"${field}":1e400}` });
      expect([field, answer.status]).toEqual([field, 422]);
    }
    expect((await world.row(task.task_id))['version']).toBe(1);
  });
});

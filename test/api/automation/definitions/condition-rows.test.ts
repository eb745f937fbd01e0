import fc from 'fast-check';
import { checkCondition } from '../../../../api/automation/language/condition.js';
import { listConditionFields } from '../../../../api/automation/language/condition-fields.js';
import {
  type Comparison,
  COMPARISONS,
  type ConditionRow,
  keyOfCondition,
  readConditionRows,
  writeConditionRows,
} from '../../../../api/automation/language/condition-rows.js';
import { TRIGGERS } from '../../../../api/automation/language/triggers.js';

// A condition as rows of field, comparison and value: what rows write, they read again; anything else stays a text.

const fields = listConditionFields('task.status_changed');
const row = (field: string, comparison: Comparison, value = '') => ({ field, comparison, value });
const write = (...rows: ReturnType<typeof row>[]) => writeConditionRows({ join: 'all', rows }, fields).text;

it('knows the fields of every trigger with what they hold', () => {
  expect(fields).toEqual(
    expect.arrayContaining([
      { path: 'event.task.title', kind: 'text' },
      { path: 'event.task.version', kind: 'number' },
      { path: 'event.task.estimate', kind: 'number' },
      { path: 'event.task.tags', kind: 'list' },
      { path: 'event.task.due_date', kind: 'text' },
      { path: 'event.task.description', kind: 'any' },
      { path: 'event.changes.status.to', kind: 'text', values: ['todo', 'in_progress', 'in_review', 'done'] },
      { path: 'event.task.status', kind: 'text', values: ['todo', 'in_progress', 'in_review', 'done'] },
      { path: 'actor.email', kind: 'text' },
    ]),
  );
  for (const { key, sample_payload } of TRIGGERS) {
    const paths = listConditionFields(key).map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const [name, value] of Object.entries(sample_payload)) {
      if (JSON.stringify(value) === '{}') continue;
      expect([key, name, paths.some((path) => `${path}.`.startsWith(`event.${name}.`))]).toEqual([key, name, true]);
    }
  }
});

it('names the custom field that changed, and offers the words of its values beside any other', () => {
  const own = [
    {
      path: 'event.task.custom_fields.severity',
      name: 'task › Severity',
      kind: 'text' as const,
      values: ['p1', 'p2'],
      texts: { p1: 'Very high' },
    },
    { path: 'event.task.custom_fields.points', name: 'task › Points', kind: 'number' as const },
  ];
  const known = listConditionFields('task.field_changed', { stages: [], fields: own });
  const text = writeConditionRows(
    {
      join: 'all',
      rows: [
        row('event.field.key', 'is', 'severity'),
        row('event.changes.text.to', 'is', 'very high'),
        row('event.changes.text.from', 'is_not', '3'),
      ],
    },
    known,
  ).text;
  expect(text).toBe('event.field.key == "severity" && event.changes.text.to == "Very high" && event.changes.text.from != "3"');
  expect(readConditionRows(text, known)?.rows).toHaveLength(3);
  expect(writeConditionRows({ join: 'all', rows: [row('event.field.key', 'is', 'gone')] }, known).errors.get(0)).toBe(
    'Enter one of: Severity, Points',
  );
  // The value that changed is one of the field that a row names.
  const value = [row('event.field.key', 'is', 'severity'), row('event.changes.value.to', 'is', 'very high')];
  const write = (rows: ConditionRow[], key?: string) =>
    writeConditionRows({ join: 'all', rows }, listConditionFields('task.field_changed', { stages: [], fields: own }, key));
  const written = write(value, 'severity');
  expect(written.text).toBe('event.field.key == "severity" && event.changes.value.to == "p1"');
  expect(keyOfCondition(written.text)).toBe('severity');
  expect(write(value).text).toBe('event.field.key == "severity" && event.changes.value.to == "very high"');
  expect(write([row('event.changes.value.to', 'over', 'much')], 'points').errors.get(0)).toBe('Enter a number');
  expect(keyOfCondition(written.text.replace('&&', '||'))).toBeUndefined();
  expect(keyOfCondition(`${written.text} && event.field.key == "points"`)).toBeUndefined();
});

it('reads the values of a status and a priority as pages show them, and refuses others', () => {
  expect(write(row('event.task.status', 'is', 'In review'))).toBe('event.task.status == "in_review"');
  expect(write(row('event.changes.status.to', 'is', 'In review'))).toBe('event.changes.status.to == "in_review"');
  expect(write(row('event.task.status', 'none_of', 'To do, in-progress'))).toBe(
    '!(event.task.status in ["todo", "in_progress"])',
  );
  expect(write(row('event.task.priority', 'is_not', 'URGENT'))).toBe('event.task.priority != "urgent"');
  const { text, errors } = writeConditionRows({ join: 'all', rows: [row('event.task.status', 'is', 'Reviewing')] }, fields);
  expect([text, errors.get(0)]).toEqual(['', 'Enter one of: todo, in_progress, in_review, done']);
});

it.each([
  [row('event.task.status', 'is', 'done'), 'event.task.status == "done"'],
  [row('event.task.estimate', 'at_least', '5'), 'event.task.estimate >= 5'],
  [row('event.task.estimate', 'empty'), 'event.task.estimate == null'],
  [row('event.task.title', 'is_not', 'a "b"\n'), String.raw`event.task.title != "a \"b\"\n"`],
  [row('event.task.priority', 'one_of', 'high, urgent'), 'event.task.priority in ["high", "urgent"]'],
  [row('event.task.priority', 'none_of', 'low'), '!(event.task.priority in ["low"])'],
  [row('event.task.title', 'contains', 'Safari'), 'event.task.title.contains("Safari")'],
  [row('event.task.title', 'lacks', 'Safari'), '!(event.task.title.contains("Safari"))'],
  [row('event.task.tags', 'contains', 'bug'), '"bug" in event.task.tags'],
  [row('event.task.tags', 'lacks', 'bug'), '!("bug" in event.task.tags)'],
  [row('event.task.title', 'begins', 'Sign'), 'event.task.title.startsWith("Sign")'],
  [row('event.task.version', 'over', '-3'), 'event.task.version > -3'],
  [row('event.task.version', 'at_most', '1.5'), 'event.task.version <= 1.5'],
  [row('event.task.due_date', 'under', '2026-12-01'), 'event.task.due_date < "2026-12-01"'],
  [row('event.task.assigned_to', 'empty'), 'event.task.assigned_to == null'],
  [row('event.task.tags', 'filled'), 'size(event.task.tags) != 0'],
  [row('event.flag', 'is', 'true'), 'event.flag == true'],
])('%p is written and read again', (one, text) => {
  expect(write(one)).toBe(text);
  expect(checkCondition(text)).toEqual({ ok: true });
  expect(readConditionRows(text, fields)).toEqual({ join: 'all', rows: [one] });
});

it.each([
  [row('event.task.version', 'is', 'two'), 'Enter a number'],
  [row('event.task.version', 'contains', '2'), 'This field cannot be compared by “contains”'],
  [row('event.task.tags', 'is', 'bug'), 'This field cannot be compared by “is”'],
  [row('true || event', 'is', 'x'), 'Choose a field of the list'],
])('%p is refused', (one, message) => {
  const { text, errors } = writeConditionRows({ join: 'all', rows: [row('', 'is'), one] }, fields);
  expect([text, [...errors]]).toEqual(['', [[1, message]]]);
});

it('reads other spellings of the same', () => {
  const rows = [row('event.task.priority', 'one_of', 'high, urgent'), row('event.task.status', 'is', 'done')];
  expect(readConditionRows(`task.priority in ['high','urgent'] || (task.status == "done")`, fields)).toEqual({
    join: 'any',
    rows,
  });
  expect(readConditionRows(' \n', fields)).toEqual({ join: 'all', rows: [] });
});

it.each([
  'has(event.task) && event.task != null && event.a == "b" || true',
  'event.a == "b" && (event.c == "d" || event.e == "f")',
  'event.task.priority in ["a, b"]',
  'event.task.version == "2"',
  'event.task.tags == ["bug"]',
  'size(event.task.tags) > 2',
  'event["odd key"] == 1',
  '!(event.task.status == "done")',
  'event.task.status == actor.name',
  'event.a == ',
  'true',
])('leaves %s a text', (text) => {
  expect(readConditionRows(text, fields)).toBeNull();
});

it('writes valid conditions of any values, which are never read as another condition', () => {
  const one = fc.record({
    field: fc.constantFrom(...fields.map(({ path }) => path), 'event.own.path'),
    comparison: fc.constantFrom(...(Object.keys(COMPARISONS) as Comparison[])),
    value: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('1', 'true', 'a, b', '"', '\\', ' ', '-2.5')),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 4 }), fc.constantFrom('all' as const, 'any' as const), (rows, join) => {
      const written = writeConditionRows({ join, rows }, fields);
      if (written.text === '' || written.errors.size > 0) return;
      expect([written.text, checkCondition(written.text).ok]).toEqual([written.text, true]);
      const read = readConditionRows(written.text, fields);
      expect([rows, read === null || writeConditionRows(read, fields).text === written.text]).toEqual([rows, true]);
    }),
    { numRuns: 500 },
  );
});

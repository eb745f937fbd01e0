import { conditionScope } from '../../../../api/automation/language/condition-scope.js';
import { explainCondition } from '../../../../api/automation/language/explain-condition.js';

const scope = conditionScope(
  { type: 'task.updated', task: { priority: 'low', title: 'x'.repeat(5_000), tags: ['a'], hours: 3 }, changes: {} },
  { project: { name: 'Apollo' }, actor: null, now: new Date('2026-11-26T09:00:00Z') },
);
const explain = (source: string) => explainCondition(source, scope);

it('evaluates each part alone, with what it read', () => {
  expect(explain('task.priority == "high" && (event.task.hours > 2) && project.name in ["Zeus"]')).toEqual({
    join: 'all',
    parts: [
      { text: 'task.priority == "high"', state: 'false', error: null, values: [{ path: 'event.task.priority', value: '"low"' }] },
      { text: 'event.task.hours > 2', state: 'true', error: null, values: [{ path: 'event.task.hours', value: '3' }] },
      { text: 'project.name in ["Zeus"]', state: 'false', error: null, values: [{ path: 'project.name', value: '"Apollo"' }] },
    ],
  });
});

it('keeps alternatives apart, says what fails, and cuts long values', () => {
  const found = explain('changes.status.to == "done" || event.task.title.contains("y")');
  expect(found).toMatchObject({
    join: 'any',
    parts: [
      { state: 'fails', values: [] },
      { state: 'false', error: null },
    ],
  });
  expect(found?.parts[0]?.error).toContain('No such key');
  expect(found?.parts[1]?.values[0]?.value).toHaveLength(201);
});

it('has no more than 20 parts, and none of a condition that is not valid', () => {
  expect(explain(Array.from({ length: 30 }, () => 'task.hours == 1').join(' && '))?.parts).toHaveLength(20);
  expect(explain('task.hours ==')).toBeNull();
});

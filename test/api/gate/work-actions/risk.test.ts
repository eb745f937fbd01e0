import type { Effect } from '../../../../api/gate/work-actions/action.js';
import { riskOfTaskUpdate } from '../../../../api/gate/work-actions/risk.js';
import { listTaskColumns } from '../../../../api/work/tasks/columns.js';

const rate = (field: string, from: unknown, to: unknown) =>
  riskOfTaskUpdate({ before: { [field]: from }, after: { [field]: to }, userId: 'u1', openDescendants: 0 } as unknown as Effect);

it.each(listTaskColumns('prose'))('a replaced or emptied %s is of medium risk, a first one of low', (field) => {
  expect([rate(field, 'a', 'b'), rate(field, 'a', null), rate(field, null, 'b'), rate(field, 'a', 'a')]).toEqual([
    'medium',
    'medium',
    'low',
    'low',
  ]);
});

it('the description is such a text', () => expect(listTaskColumns('prose')).toContain('description'));

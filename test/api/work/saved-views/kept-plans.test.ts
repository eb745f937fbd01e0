import { KeptPlans } from '../../../../api/work/saved-views/results/kept-plans.js';

it('names a text at its tenth use, and never more than 32 texts', () => {
  const plans = new KeptPlans();
  const names = (text: string) => Array.from({ length: 10 }, () => plans.nameOf(text));
  const first = names('select 1');
  expect(first.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => ''));
  expect(first[9]).toMatch(/^view_[0-9a-f]{16}$/);
  const all = new Set(Array.from({ length: 100 }, (_, n) => names(`select ${n}`).at(-1)));
  expect(all.size).toBe(33);
  expect(all).toContain('');
  expect(plans.nameOf('select 1')).toBe(first[9]);
});

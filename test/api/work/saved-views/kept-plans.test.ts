import { KeptPlans } from '../../../../api/work/saved-views/results/kept-plans.js';

it('names a text at its tenth use, and never more than 32 texts', () => {
  const plans = new KeptPlans();
  const names = (text: string) => Array.from({ length: 10 }, () => plans.nameOf(text));
  const first = names('select 1');
  expect(first.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => ''));
  expect(first[9]).toMatch(/^view_\d+$/);
  expect(plans.nameOf('select 1')).toBe(first[9]);
  const all = new Set(Array.from({ length: 100 }, (_, n) => names(`select ${n}`).at(-1)));
  expect(all.size).toBe(32);
  expect(all).not.toContain('');
});

it('keeps the texts that are used, whatever a stranger asks for, and gives the places of others away', () => {
  const plans = new KeptPlans();
  const use = (text: string) => Array.from({ length: 10 }, () => plans.nameOf(text)).at(-1);
  const odd = Array.from({ length: 32 }, (_, n) => use(`select odd ${n}`));
  expect(new Set(odd).size).toBe(32);
  const mine = use('select mine');
  expect(mine).toBe(odd[0]);
  expect(plans.nameOf('select odd 0')).toBe('');
  for (let n = 0; n < 200; n += 1) {
    use(`select odd ${n}`);
    expect(plans.nameOf('select mine')).toBe(mine);
  }
});

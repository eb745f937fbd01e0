import { mentionedNames } from '../../../../api/work/comments/rules.js';

it('finds names in lower case, each once, without the punctuation of the sentence', () => {
  expect(mentionedNames('Hello @Ada, @max.- and @ada! (@o.lga+x_) mail ada@example.com @@uma @... @-')).toEqual([
    'ada',
    'max',
    'o.lga+x_',
  ]);
});

it('takes time in proportion to the text, whatever it holds', () => {
  // CPU time: what else the machine does counts for nothing.
  const before = process.cpuUsage();
  for (const text of [`@${'.'.repeat(200_000)}`, '@.'.repeat(100_000), `@${'.'.repeat(200_000)}x`]) mentionedNames(text);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
});

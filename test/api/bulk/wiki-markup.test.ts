import { wikiToMarkdown } from '../../../api/bulk/import/importers/wiki-markup.js';

it.each([
  ['h2. A title', '## A title'],
  ['Some *bold text* here, 2 * 3 * 4', 'Some **bold text** here, 2 * 3 * 4'],
  ['A -gone- word, a well-known one', 'A ~~gone~~ word, a well-known one'],
  [
    '[the page|https://example.test/a] and [https://example.test]',
    '[the page](https://example.test/a) and <https://example.test>',
  ],
  ['* one\n** two\n# first\n- dash', '- one\n   - two\n1. first\n- dash'],
  ['!image.png|thumbnail! and wow! really!', '![image.png](image.png) and wow! really!'],
  ['{{code}} and bq. no', '`code` and bq. no'],
  ['bq. said', '> said'],
  ['See\n{code:java}\nh1. *not* a title\n{code}\nafter', 'See\n```java\nh1. *not* a title\n```\nafter'],
  ['{noformat}\n{code}\n{noformat}', '```\n{code}\n```'],
  ['{code}\nnever closed', '```\nnever closed\n```'],
  ['----', '----'],
  ['plain\n\ntext', 'plain\n\ntext'],
])('%j becomes %j', (wiki, markdown) => {
  expect(wikiToMarkdown(wiki)).toBe(markdown);
});

it.each([
  '[a|',
  '[a|http://x|',
  '[a|http://x',
  '[http://x',
  '!a',
  '!a|',
  '*a',
  ' *a ',
  '-a',
  ' -a',
  '{{a',
  '[~',
  '{code}',
  '{code:',
  '{code:{',
  'h1. ',
  'bq. ',
])('takes time in proportion to a cell of a megabyte of %j', (unit) =>
  expect(wikiToMarkdown(unit.repeat(Math.floor(1_000_000 / unit.length))).length).toBeGreaterThan(0),
);

import { plainText, richText } from '../../../api/web/wording/rich-text.js';

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '**<script>x</script>**',
  '`</code><script>`',
  '[x](https://a.example"onclick=y)',
];

it('renders bold and code of Markdown, and shows the address of a link without linking it', () => {
  expect(richText('Merge **#41** with `npm ci`?\nSee [the plan](https://example.com/a_b).')).toBe(
    'Merge <strong>#41</strong> with <code>npm ci</code>?\nSee the plan (https://example.com/a_b).',
  );
  expect(plainText('Merge **#41** with `npm ci`? [Plan](https://example.com)')).toBe(
    'Merge #41 with npm ci? Plan (https://example.com)',
  );
});

it('leaves marks that are not closed as they are', () => {
  for (const text of ['2 ** 3', 'a `b', '**a\nb**', '[x](javascript:alert(1))', '** a **']) expect(richText(text)).toBe(text);
});

it.each(HOSTILE)('renders no element and no attribute of %s', (text) => {
  expect(richText(text).replace(/<\/?(?:strong|code)>/g, '')).not.toMatch(/[<>"]/);
});

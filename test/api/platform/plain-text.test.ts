import { plainText } from '../../../api/platform/plain-text.js';

it('takes the marks of Markdown from a message and shows where a link leads', () => {
  expect(plainText('Merge **#41** with `npm ci`?\nSee [the plan](https://example.com/a_b).')).toBe(
    'Merge #41 with npm ci?\nSee the plan (https://example.com/a_b).',
  );
});

it.each(['2 ** 3', 'a `b', '**a\nb**', '[x](javascript:alert(1))', '** a **', '{{secret:KEY}}'])('leaves %j as it is', (text) =>
  expect(plainText(text)).toBe(text),
);

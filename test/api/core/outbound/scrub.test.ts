import fc from 'fast-check';
import { scrub } from '../../../../api/core/outbound/scrub.js';

const SECRET = 'p@ss/w+rd="é"&<1>';
const b64 = (text: string) => Buffer.from(text).toString('base64');

it.each([
  ['raw', SECRET],
  ['in JSON', JSON.stringify({ echo: SECRET })],
  ['url-encoded', encodeURIComponent(SECRET)],
  ['url-encoded in lower case', encodeURIComponent(SECRET).replace(/%../g, (escape) => escape.toLowerCase())],
  ['in a form', new URLSearchParams({ q: SECRET }).toString()],
  ['in a query', new URL(`http://h/?q=${SECRET}`).href],
  ['in base64', b64(SECRET)],
  ['in base64 after a name', b64(`user:${SECRET}`)],
  ['in base64 between others', b64(`u:${SECRET}\nmore`)],
  ['in base64url', Buffer.from(`us:${SECRET}`).toString('base64url')],
  ['in hex', Buffer.from(SECRET).toString('hex')],
  ['in HTML', 'p@ss/w+rd=&quot;é&quot;&amp;&lt;1&gt;'],
])('%s', (_how, echoed) => {
  const scrubbed = scrub([SECRET], `before ${echoed} after`);
  expect(scrubbed).toContain('[secret]');
  expect(scrubbed).toMatch(/^before .* after$/s);
  expect(scrubbed).not.toMatch(/w\+rd|w%2brd|w&/i);
});

it('several, also where they overlap or one holds another', () => {
  expect(scrub(['abcdef', 'defghi'], 'x abcdefghi y')).toBe('x [secret] y');
  expect(scrub(['token', 'a token of mine'], '<a token of mine> token')).toBe('<[secret]> [secret]');
  expect(scrub(['aa'], 'aaa')).toBe('[secret]');
  expect(scrub(['x'], 'box')).toBe('bo[secret]');
  expect(scrub([], 'kept')).toBe('kept');
});

it('half a secret at the end of a text that was cut goes too', () => {
  const text = `kept, then ${SECRET}`;
  for (let end = 12; end < text.length; end += 1) expect(scrub([SECRET], text.slice(0, end), true)).not.toContain('p@s');
  expect(scrub([SECRET], `${'x'.repeat(500)}${SECRET.slice(0, 5)}`, true)).toMatch(/^x+$/);
});

it('whatever the secret and wherever it stands, no form of it is left', () => {
  const secret = fc.string({ minLength: 8, maxLength: 40, unit: 'binary' }).filter((text) => text.isWellFormed());
  fc.assert(
    fc.property(secret, fc.string({ maxLength: 20 }), (hidden, around) => {
      const echoes = [hidden, JSON.stringify(hidden), encodeURIComponent(hidden), b64(hidden), b64(around + hidden)];
      const left = scrub([hidden], echoes.map((echo) => `${around}|${echo}|${around}`).join(' '));
      const marks = left.split('[secret]').join('\u0001');
      if (!around.includes(hidden)) expect(marks.includes(hidden)).toBe(false);
      expect(marks.includes(b64(hidden).slice(2, -4))).toBe(false);
    }),
    { numRuns: 300, seed: 7 },
  );
});

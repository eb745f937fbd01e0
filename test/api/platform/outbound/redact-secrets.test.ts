import fc from 'fast-check';
import { redactSecrets } from '../../../../api/platform/http-client/redact-secrets.js';
import { SPELLINGS, type Spelling } from '../../../support/encodings.js';

const SECRET = 'p@ss/w+rd="é"&<1>';
const b64 = (text: string) => Buffer.from(text).toString('base64');
const { json, php, python, go, html, percent, form } = SPELLINGS;
/** As it stands in a text that is written one way, then as a whole another way, and so on. */
const spell = (text: string, ...ways: Spelling[]) => ways.reduce((written, way) => way(written), text);

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
  const scrubbed = redactSecrets([SECRET], `before ${echoed} after`);
  expect(scrubbed).toContain('[secret]');
  expect(scrubbed).toMatch(/^before .* after$/s);
  expect(scrubbed).not.toMatch(/w\+rd|w%2brd|w&/i);
});

it.each<[string, Spelling[]]>([
  ['by PHP', [php]],
  ['by Python', [python]],
  ['by Go', [go]],
  ['in upper case', [(text) => python(text).replace(/[0-9a-f]{4}/g, (hex) => hex.toUpperCase())]],
  ['in JSON in JSON', [json, json]],
  ['in JSON four deep', [json, json, json, json]],
  ['in JSON of PHP in JSON of Go', [php, go]],
  ['in HTML in HTML', [html, html]],
  ['in HTML in JSON of Go', [html, go]],
  ['in JSON in HTML in JSON', [json, html, json]],
  ['in an address in an address in JSON', [percent, percent, php]],
  ['in JSON in a form in lower case', [json, (text) => form(text).replace(/%../g, (octet) => octet.toLowerCase())]],
])('written %s', (_how, ways) => {
  for (const secret of [
    'k3y/withSl4sh/9+Zq==',
    'p<w>&d-9x7',
    'pässwörd-ünïque-😀',
    'pa"ss\\word-77\n',
    '\\"\\n\u0001<&',
    '&lt;%41%2541-literal',
  ])
    expect(redactSecrets([secret], spell(`a "${secret}" b`, ...ways))).toBe(
      `${spell('a "', ...ways)}[secret]${spell('" b', ...ways)}`,
    );
});

it.each([
  ['in base64', php(b64(`ÿÿÿ>>>${SECRET}???`))],
  ['in base64 in an address', percent(b64(SECRET))],
  ['in bytes that were read as others', Buffer.from(SECRET).toString('latin1')],
  ['in a header that was read as UTF-8', Buffer.from(SECRET, 'latin1').toString()],
])('written %s', (_how, echoed) => {
  const left = redactSecrets([SECRET], `|${echoed}|`);
  expect(left).toContain('[secret]');
  expect(left).not.toMatch(/p@ss|w\+rd|cEBz|BAc3|QHNz/);
});

it('keeps text that only looks escaped', () => {
  const text = '\\u00e9 %41 &amp;lt; C:\\new\\\\ 100% &copy; +1 \\ud83d "\\/" &#9999999; \\';
  expect(redactSecrets(['hidden'], `${text} hid\\u0064en ${text}`)).toBe(`${text} [secret] ${text}`);
});

it('a short secret hides no letters that an escape leaves', () => {
  expect(redactSecrets(['\\n', '%6e'], 'none')).toBe('none');
});

it('takes time that grows with the lengths alone, whatever stands in the text', () => {
  const long = 30_000;
  const secrets = [
    'a'.repeat(long),
    `b${'a'.repeat(long)}`,
    `${'ab'.repeat(long / 2)}c`,
    '\\'.repeat(long),
    '%25'.repeat(long / 3),
  ];
  const texts = ['a', 'ab', '\\', '%25', '&amp;', 'amp;', '\\u', '\\ud800', '%', '&#', '+', '&'].map((part) =>
    part.repeat(65_536 / part.length),
  );
  // Something in here that is quadratic takes longer than a test may.
  for (const text of texts) expect(redactSecrets(secrets, text, true)).not.toContain('a'.repeat(long));
});

it('several, also where they overlap or one holds another', () => {
  expect(redactSecrets(['abcdef', 'defghi'], 'x abcdefghi y')).toBe('x [secret] y');
  expect(redactSecrets(['token', 'a token of mine'], '<a token of mine> token')).toBe('<[secret]> [secret]');
  expect(redactSecrets(['aa'], 'aaa')).toBe('[secret]');
  expect(redactSecrets(['x'], 'box')).toBe('bo[secret]');
  expect(redactSecrets([], 'kept')).toBe('kept');
});

it('half a secret at the end of a text that was cut goes too', () => {
  const text = `kept, then ${SECRET}`;
  for (let end = 12; end < text.length; end += 1) expect(redactSecrets([SECRET], text.slice(0, end), true)).not.toContain('p@s');
  expect(redactSecrets([SECRET], `${'x'.repeat(500)}${SECRET.slice(0, 5)}`, true)).toMatch(/^x+$/);
});

it('and however its half is written', () => {
  for (const way of [python, (text: string) => json(json(text)), (text: string) => percent(percent(text))]) {
    const [head, text] = [way(`${'é'.repeat(99)}, then `), way('secret: "ß", "ö"')];
    for (let end = 1; end < text.length; end += 1) {
      const left = redactSecrets(['secret: "ß", "ö"'], `${head}${text.slice(0, end)}`, true);
      expect(head.startsWith(left)).toBe(true);
    }
  }
});

it('whatever the secret, wherever it stands and however it is written, no form of it is left', () => {
  const secret = fc.string({ minLength: 8, maxLength: 40, unit: 'binary' }).filter((text) => text.isWellFormed());
  const ways = fc.array(fc.constantFrom(...Object.values(SPELLINGS)), { maxLength: 3 });
  fc.assert(
    fc.property(secret, fc.string({ maxLength: 20 }), ways, (hidden, around, chosen) => {
      fc.pre(!around.includes(hidden));
      const left = redactSecrets([hidden], spell(`${around}|${hidden}|${around}`, ...chosen));
      expect(left).toContain('[secret]');
      expect(left.length).toBeLessThanOrEqual(2 * spell(`${around}|`, ...chosen).length + '[secret]'.length);
      const echoes = [b64(hidden), b64(around + hidden)].map((echo) => spell(echo, ...chosen));
      const marks = redactSecrets([hidden], echoes.join(' ')).split('[secret]').join('\u0001');
      expect(marks.includes(b64(hidden).slice(2, -4))).toBe(false);
    }),
    { numRuns: 500, seed: 7 },
  );
});

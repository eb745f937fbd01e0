import fc from 'fast-check';
import { renderMarkdown, tickBox } from '../../../api/web/wording/markdown.js';

const TAGS = /<\/?([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*\/?>/gi;
const ALLOWED = new Set(
  'input p br hr em strong s code pre blockquote ul ol li a h3 h4 h5 h6 table thead tbody tr th td'.split(' '),
);
const ATTRIBUTES = new Set(['href', 'rel', 'title', 'class', 'start', 'type', 'disabled', 'checked']);

/** What the text became, as far as it is more than text and harmless tags. */
function harmIn(html: string): string[] {
  const harm: string[] = [];
  const rest = html.replace(TAGS, (_tag, name: string, attributes: string) => {
    if (!ALLOWED.has(name.toLowerCase())) harm.push(name);
    for (const [, key = '', value = ''] of attributes.matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)) {
      if (!ATTRIBUTES.has(key)) harm.push(key);
      if (key === 'href' && !/^(https?:|mailto:|[^:]*$|[/#.?])/i.test(value)) harm.push(value);
    }
    return '';
  });
  if (/[<>]/.test(rest)) harm.push(rest);
  return harm;
}

it.each([
  ['<script>alert(1)</script>'],
  ['[x](javascript:alert(1))'],
  ['[x](JaVaScRiPt&#58;alert(1))'],
  ['[x](vbscript:x) [y](data:text/html,<script>)'],
  ['![x](https://evil.example/pixel.png)'],
  ['![x](" onerror="alert(1))'],
  ['[x](https://a.example "\\" onclick=\\"alert(1)")'],
  ['<img src=x onerror=alert(1)>'],
  ['```html\n<b onclick=x>\n```'],
  ['<!-- --><a href=x>'],
  ['[a]: javascript:alert(1)\n\n[a]'],
  ['<javascript:alert(1)>'],
  ['<A+:>'],
  ['[x](ms-word:ofe|u|https://a.example/x.docm)'],
  ['[x](search-ms:query=x)'],
])('renders no tag, attribute or address that could do harm: %s', (text) => {
  expect(harmIn(renderMarkdown(text) ?? '')).toEqual([]);
});

it('any text renders to harmless tags', () => {
  const pieces = fc.constantFrom(
    ...'<>"\'`[]()!*_#&;:/\\=\n -|~'.split(''),
    'javascript:',
    'onerror',
    'https://a.example',
    '&lt;',
    '<a ',
    '![',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 60 }), (parts) => {
      expect(harmIn(renderMarkdown(parts.join('')) ?? '')).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

it('an image is a link, a heading stands below those of the page, and a long text is not rendered', () => {
  expect(renderMarkdown('![A pixel](https://a.example/p.png)')).toContain('<a href="https://a.example/p.png" rel=');
  const own = '/app/files/0197a000-0000-7000-8000-000000000001/picture';
  expect(renderMarkdown(`![A crane](${own})`)).toBe(
    `<p><a href="/app/items/0197a000-0000-7000-8000-000000000001"><img src="${own}" alt="A crane" loading="lazy" decoding="async"></a></p>\n`,
  );
  for (const other of [`https://a.example${own}`, `//a.example${own}`, `${own}?x`, `${own}/../..`, '/app/sign-out'])
    expect(renderMarkdown(`![A crane](${other})`)).not.toContain('<img');
  expect(renderMarkdown('# One')).toBe('<h3>One</h3>\n');
  expect(renderMarkdown('x'.repeat(20_001))).toBeUndefined();
});

it('a name of a task leads to it where a team of the reader has the key, but not in code, links and longer words', () => {
  const render = (text: string) => renderMarkdown(text, { teamKeys: new Set(['HAR', 'X2']) });
  const link = (name: string) => `<a href="/app/tasks/${name}">${name}</a>`;
  expect(render('See HAR-12, (X2-1) and **HAR-3**.')).toBe(
    `<p>See ${link('HAR-12')}, (${link('X2-1')}) and <strong>${link('HAR-3')}</strong>.</p>\n`,
  );
  for (const text of ['`HAR-1`', 'har-1', 'SEA-1', 'HAR-0', 'HAR-1x', 'xHAR-1', 'A-HAR-1', 'HAR-1234567890', 'HAR-1-2'])
    expect(render(text)).not.toContain('<a');
  expect(render('[HAR-1](https://a.example)')?.match(/<a /g)).toHaveLength(1);
  expect(renderMarkdown('HAR-12')).toBe('<p>HAR-12</p>\n');
});

it('a text that few characters make large, or slow to link, is not rendered so', () => {
  const table = (columns: number, rows: number) => `${'|a'.repeat(columns)}\n${'|-'.repeat(columns)}\n${'b\n'.repeat(rows)}`;
  expect(renderMarkdown(table(12, 400))).toContain('<table>');
  expect(renderMarkdown(table(300, 9_000))).toBeUndefined();
  expect(renderMarkdown(`> ${table(300, 9_000).replaceAll('\n', '\n> ')}`.slice(0, 20_000))).toBeUndefined();
  expect(renderMarkdown('see //a.example/x and http://b.example')).toBe(
    '<p>see //a.example/x and <a href="http://b.example" rel="noopener noreferrer nofollow">http://b.example</a></p>\n',
  );
});

describe('boxes of lists', () => {
  const names = (text: string) =>
    [...(renderMarkdown(text, { tickForm: 'f' }) ?? '').matchAll(/name="box" value="([^"]+)"/g)].map(([, name]) => name ?? '');

  it('are shown, and are buttons where they can be ticked', () => {
    const text = '- [ ] Order *wheels*\n- [x] Paint <b>\n- no box\n\n[ ] no list\n\n1. [X] One\n   - [ ] Two';
    expect(renderMarkdown(text)?.match(/<input type="checkbox" disabled( checked)?>/g)).toHaveLength(4);
    const html = renderMarkdown(text, { tickForm: 'f' }) ?? '';
    expect(html.match(/role="checkbox" aria-checked="true"/g)).toHaveLength(2);
    expect(html).toContain('aria-label="Paint &lt;b&gt;"');
    expect(html).toContain('Order <em>wheels</em>');
  });

  it('are ticked where they stand, and nothing else changes', () => {
    const text = 'Before\r\n\r\n> - [ ] a\r- [x] b\r\n* [ ] c [ ] c  \n\n    [ ] code\n';
    const [a = '', b = '', c = ''] = names(text);
    expect(tickBox(text, a)).toBe(text.replace('[ ] a', '[x] a'));
    expect(tickBox(text, b)).toBe(text.replace('[x] b', '[ ] b'));
    expect(tickBox(text, c)).toBe(text.replace('[ ] c [ ] c', '[x] c [ ] c'));
    expect(tickBox(tickBox(text, a) ?? '', a)).toBe(text.replace('[ ] a', '[x] a'));
  });

  it('are found by what they say where lines have moved, and not at all where it changed', () => {
    const text = '- [ ] a\n- [ ] b\n- [ ] same\n- [ ] same\r\n';
    const [a = '', b = '', , same = ''] = names(text);
    expect(tickBox('- [ ] new\n- [ ] b', b)).toBe('- [ ] new\n- [x] b');
    expect(tickBox('- [ ] other\n- [ ] b', a)).toBeUndefined();
    expect(tickBox(text, same)).toBe('- [ ] a\n- [ ] b\n- [ ] same\n- [x] same\r\n');
    for (const other of [
      `- [ ] new\n${text}`,
      `- [ ] same\n${text}`,
      text.replace('- [ ] same\n', ''),
      text.replace('] a', '] A'),
    ])
      expect(tickBox(other, same)).toBeUndefined();
    expect(tickBox(`${text}- [ ] b`, b)).toBeUndefined();
    for (const name of ['', '0', '0:0:', 'x:y:z', '9:0:000000000000']) expect(tickBox(text, name)).toBeUndefined();
  });

  it('tick one line of any text, or none', () => {
    const piece = fc.constantFrom(
      '- [ ] a',
      '- [x] b',
      '1. [ ] c',
      '  - [ ] d',
      '> * [X] e',
      'text [ ] f',
      '',
      '    - [ ] g',
      '\t- [ ] h',
      '| [ ] |',
      '[ ]: x',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, fc.constantFrom('\n', '\r\n', '\r'))), (lines) => {
        const text = lines.flat().join('');
        for (const name of names(text)) {
          const ticked = tickBox(text, name) ?? '';
          const changed = Array.from(ticked).filter((letter, at) => letter !== text[at]);
          expect([ticked.length, changed.length]).toEqual([text.length, 1]);
        }
      }),
    );
  });
});

import fc from 'fast-check';
import { markLiterally, MATCH_END, MATCH_START, parseQuery, snippetHtml } from '../../../../api/work/search/rules.js';
import { buildTeam, type TestTeam } from '../../../factories/people.js';
import { startApp, type TestApp } from '../../../support/app.js';

const words = (query: string) => parseQuery(query).map(({ text }) => text);

describe('parseQuery', () => {
  it('splits words, phrases, exclusions and alternatives', () => {
    expect(parseQuery('Relief "hot fire" -old -"to do" or pump')).toEqual([
      { group: 0, text: 'Relief', word: true },
      { group: 0, text: 'hot fire' },
      { group: 0, text: 'old', negated: true },
      { group: 0, text: 'to do', negated: true },
      { group: 1, text: 'pump', prefix: true },
    ]);
  });

  it('takes a dash for an exclusion only at the start of a word', () => {
    expect(parseQuery('a-b --c - -')).toEqual([
      { group: 0, text: 'a-b' },
      { group: 0, text: '--c' },
    ]);
  });

  it('may end inside a quote', () => {
    expect(parseQuery('a "b c')).toEqual([
      { group: 0, text: 'a' },
      { group: 0, text: 'b c' },
    ]);
    expect(words('"" " a')).toEqual(['a']);
  });

  it('takes the last word for unfinished unless a space, a quote or a sign follows', () => {
    expect(parseQuery('pump').at(-1)?.prefix).toBe(true);
    for (const query of ['pu', 'pump ', '"pump"', 'pump.', '-pump', 'pu-mp'])
      expect([query, parseQuery(query).at(-1)?.prefix]).toEqual([query, undefined]);
  });

  it('keeps 16 terms', () => expect(words('a '.repeat(250))).toHaveLength(16));

  it('keeps nothing without a letter, digit or emoji', () => expect(words(`&|!<>()*:'\\ . , ; or OR % _`)).toEqual([]));
});

describe('a snippet', () => {
  it('is one line of at most 240 characters that holds the first match', () => {
    const text = `${'x '.repeat(300)}${MATCH_START}hit${MATCH_END}\n\t${'y '.repeat(300)}`;
    const html = snippetHtml(text);
    expect(html).toContain('<mark>hit</mark> y');
    expect(html.length).toBeLessThan(260);
    expect(html).not.toMatch(/[\n\t]/);
  });

  it('has balanced marks around escaped text, whatever the text', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(MATCH_START, MATCH_END, '<b>', '&amp;', '"', '\u{e002}', '東京'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 300 }), (parts) => {
        const html = snippetHtml(parts.join(''));
        const bare = html.replaceAll(/<\/?mark>/g, '');
        expect(bare).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.boolean()), { maxLength: 60 }), (runs) => {
        const html = snippetHtml(runs.map(([text, hit]) => (hit ? MATCH_START + text + MATCH_END : text)).join(' '));
        expect(html.replaceAll(/<mark>[^<]*<\/mark>/g, '')).not.toMatch(/<\/?mark>/);
      }),
    );
  });

  it('marks a text literally, in any case', () => {
    expect(markLiterally('東京と東京', '東京')).toBe(`${MATCH_START}東京${MATCH_END}と${MATCH_START}東京${MATCH_END}`);
    expect(markLiterally('İstanbul', 'i')).toBe('İstanbul');
    expect(markLiterally('abc', '')).toBe('abc');
  });
});

describe('in PostgreSQL', () => {
  let app: TestApp;
  let team: TestTeam;
  beforeAll(async () => {
    app = await startApp();
    team = await buildTeam(app);
  });
  afterAll(() => app.close());

  const status = async (query: string): Promise<number> => (await app.as(team.guest).post('/api/search', { query })).status;

  it('hostile queries are answered', async () => {
    const signs = [
      '-',
      '"',
      '-"',
      '(',
      ')',
      '&',
      '|',
      '!',
      ':*',
      '<->',
      '\\',
      "'",
      '%',
      '*',
      '\u0001',
      '\u200b',
      '\u{e000}',
      '😀',
      '̈',
      '東',
      ' or ',
      '-x ',
      'a&',
      "\\'",
    ];
    for (const sign of signs) {
      const query = Array.from(sign.repeat(500)).slice(0, 500).join('');
      expect([sign, await status(query)]).toEqual([sign, 200]);
    }
    for (const query of [
      "'; drop table tasks; --",
      'a:*&b',
      '$1',
      '\ufdfa'.repeat(500),
      'x'.repeat(500),
      `"${'a '.repeat(249)}"`,
    ])
      expect([query, await status(query)]).toEqual([query, 200]);
  });

  it('any text is a query', async () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('"', '-', ' ', ' or ', '-"', ':*', '&', '|', '!', '(', ')', '<2>', "'", '\\', '東京', '🚀', 'é', 'word'),
    );
    const query = fc
      .array(piece, { minLength: 1, maxLength: 12 })
      .map((pieces) => pieces.join('').replaceAll('\0', '.'))
      .filter((text) => text.isWellFormed() && text !== '');
    await fc.assert(
      fc.asyncProperty(query, async (text) => expect(await status(text)).toBe(200)),
      { numRuns: 150 },
    );
  });

  it('a text is found by its own words, in every script', async () => {
    const letters = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
    );
    const texts = fc.sample(fc.array(letters, { minLength: 1, maxLength: 6 }), 1_500).map((parts) =>
      parts
        .join(' ')
        .replaceAll(/[\0"“”„«»]/g, ' ')
        .replaceAll(/(^|\s)-+/g, ' '),
    );
    const given = texts.filter((text) => text.isWellFormed()).map((text) => ({ text, terms: parseQuery(text) }));
    const { rows } = await app.services.db.raw<{ rows: { text: string }[] }>(
      /* sql */ `
      select g.text from jsonb_to_recordset(:given) as g(text text, terms jsonb), search_query(g.terms, '{}') q
      where q::text <> '' and not search_vector(g.text, '', '') @@ q`,
      { given: JSON.stringify(given) } as never,
    );
    expect(rows).toEqual([]);
  });
});

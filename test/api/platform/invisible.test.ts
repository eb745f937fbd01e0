import { findInvisible, withoutInvisible, withVisibleNames } from '../../../api/platform/validation/invisible.js';

it.each([
  ['a bidirectional override', '\u202e', 'U+202E'],
  ['an isolate', '\u2066', 'U+2066'],
  ['a zero-width space', '\u200b', 'U+200B'],
  ['a byte order mark', '\ufeff', 'U+FEFF'],
  ['a soft hyphen', '\u00ad', 'U+00AD'],
  ['a tag', '\u{e0041}', 'U+E0041'],
  ['a variation selector that carries data', '\u{e0100}', 'U+E0100'],
  ['a text selector', '\ufe00', 'U+FE00'],
  ['a combining joiner', '\u034f', 'U+034F'],
  ['a filler', '\u3164', 'U+3164'],
  ['a half filler', '\uffa0', 'U+FFA0'],
  ['a control character', '\u0007', 'U+0007'],
  ['an escape', '\u001b', 'U+001B'],
  ['a C1 control', '\u009b', 'U+009B'],
])('finds, names and removes %s', (_what, character, name) => {
  const text = `de${character}lete`;
  expect(findInvisible(text)).toBe(name);
  expect(withVisibleNames(text)).toBe(`de⟨${name}⟩lete`);
  expect(withoutInvisible(text)).toBe('delete');
});

it.each(['Two\nlines\tand a tab', 'Größe ß é', '日本語', 'नमस्ते', '👩‍🚀 and 👩🏽‍🚀, ❤️', '👨‍👩‍👧'])(
  'leaves %j as it shows',
  (text) => {
    expect(findInvisible(text)).toBeUndefined();
    expect(withVisibleNames(text)).toBe(text);
  },
);

it('a joiner outside an emoji is visible', () => {
  expect(withVisibleNames('a\u200db')).toBe('a⟨U+200D⟩b');
  expect(withoutInvisible('one\r\ntwo\u2028three')).toBe('one\ntwo\nthree');
});

import fc from 'fast-check';
import { maskEnd, maskPart, maskText } from '../../../api/runners/logs/mask.js';

/** Masks a text that arrives in parts, as the log of a job does. */
function inParts(values: string[], parts: string[]): string {
  let tail = '';
  let out = '';
  for (const part of parts) {
    const masked = maskPart(values, tail, part);
    out += masked.text;
    ({ tail } = masked);
  }
  return out + maskEnd(tail);
}
const split = (text: string, sizes: number[]): string[] => {
  const parts: string[] = [];
  let at = 0;
  for (const size of sizes) {
    parts.push(text.slice(at, at + size));
    at += size;
  }
  return [...parts, text.slice(at)];
};

const Sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 });
/** Few letters, so that secrets overlap with themselves, with each other and with what surrounds them. */
const letters = (min: number, max: number) =>
  fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: min, maxLength: max }).map((each) => each.join(''));

it('never shows a secret, wherever it is split', () => {
  fc.assert(
    fc.property(
      fc.array(letters(5, 12), { minLength: 1, maxLength: 3 }),
      letters(0, 60),
      letters(0, 30),
      Sizes,
      (values, before, after, sizes) => {
        const text = `${before}${values.join('x')}${after}`;
        const shown = inParts(values, split(text, sizes));
        for (const value of values) expect(shown).not.toContain(value);
      },
    ),
    { numRuns: 500 },
  );
});

it('leaves what holds no secret as it is, but for an end that may be the beginning of one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), Sizes, (text, sizes) => {
      const rest = text.replaceAll(/[s-z]/g, '');
      expect(inParts(['zzz-very-secret'], split(rest, sizes))).toBe(rest);
      expect(inParts([], split(text, sizes))).toBe(text);
    }),
  );
});

it('knows the usual encodings, and the lines of a secret with several', () => {
  const value = 'Pass word/+"ü';
  const forms = [
    Buffer.from(value).toString('base64'),
    Buffer.from(value).toString('hex'),
    encodeURIComponent(value),
    JSON.stringify(value),
  ];
  // The last bits of a base64 text depend on what follows it.
  for (const form of forms) expect(maskText([value], `<${form}>`)).toMatch(/^<"?\*\*\*.{0,3}>$/);
  const key = '-----BEGIN KEY-----\nline-one\nline-two\n-----END KEY-----\n';
  expect(maskText([key], 'a line-one b\r\n line-two')).toBe('a *** b\r\n ***');
});

it('takes a hostile log in linear time', () => {
  const value = 'a'.repeat(60_000);
  const shown = inParts(
    [value],
    Array.from({ length: 12 }, () => 'a'.repeat(30_000)),
  );
  expect(shown).not.toContain('a'.repeat(60_000));
});

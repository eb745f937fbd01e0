import { bordersOf, findAll } from '../../core/http-client/find-all.js';
import { formsOf } from '../../core/http-client/redact-secrets.js';

/** Replaces a secret in a log. */
const MASK = '***';
/** Shorter lines and beginnings of a secret would mask half of any text. */
const SHORTEST = 4;

/** A range of a text, in UTF-16 units. */
interface Range {
  start: number;
  end: number;
}

/** Returns every text that a log must not show: the values, their usual encodings, and the lines of those with several. */
const maskedForms = (values: readonly string[]): string[] => [
  ...new Set(
    values.flatMap((value) => [
      ...formsOf(value),
      ...value
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter((line) => line.length >= SHORTEST),
    ]),
  ),
];

/** Returns where forms occur, merged and in order. */
function rangesOf(forms: readonly string[], text: string): Range[] {
  const found = forms
    .flatMap((form) => [...findAll(form, text)].map((start) => ({ start, end: start + form.length })))
    .sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Range[] = [];
  for (const range of found) {
    const last = merged.at(-1);
    if (last && range.start < last.end) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}

/** Returns the length of the longest end of the text that is a beginning of the form, and not all of it. Linear (Knuth, Morris, Pratt). */
function overlapOf(form: string, text: string): number {
  const borders = bordersOf(form);
  let length = 0;
  for (let at = Math.max(0, text.length - form.length + 1); at < text.length; at += 1) {
    while (length > 0 && text[at] !== form[length]) length = borders[length - 1] as number;
    if (text[at] === form[length]) length += 1;
    if (length === form.length) length = borders[length - 1] as number;
  }
  return length;
}

const replaced = (ranges: readonly Range[], text: string, until: number): string => {
  let out = '';
  let done = 0;
  for (const { start, end } of ranges) {
    if (start >= until) break;
    out += text.slice(done, start) + MASK;
    done = end;
  }
  return out + text.slice(done, Math.max(done, until));
};

/** Masks secrets in a whole text. */
export function maskText(values: readonly string[], text: string): string {
  const forms = maskedForms(values);
  return replaced(rangesOf(forms, text), text, text.length);
}

/**
 * Masks secrets in the next part of a text that arrives in parts. `tail`: the end of the text before, which may be the beginning of a
 * secret. Returns what is safe to show and the new tail.
 */
export function maskPart(values: readonly string[], tail: string, part: string): { text: string; tail: string } {
  const forms = maskedForms(values);
  const whole = tail + part;
  const ranges = rangesOf(forms, whole);
  const longest = Math.max(0, ...forms.map(({ length }) => length));
  let held = whole.length - Math.max(0, ...forms.map((form) => overlapOf(form, whole)));
  // A beginning that overlaps a masked range would show the end of that range later.
  const range = ranges.find(({ start, end }) => start < held && held < end);
  if (range) held = whole.length - range.start <= 2 * longest ? range.start : range.end;
  return { text: replaced(ranges, whole, held), tail: whole.slice(held) };
}

/** Masks the end of a text that arrived in parts: what is left may be most of a secret. */
export const maskEnd = (tail: string): string => (tail.length >= SHORTEST ? MASK : tail);

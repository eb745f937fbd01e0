import { withoutInvisible } from '../../platform/validation/invisible.js';

/** Longest title that a message gives its session, in characters. */
const MAX_TITLE = 60;
/** Part of a message that is looked at for it. */
const MAX_READ = 1_000;

/** Returns the title that a first message gives its session: its beginning, cut behind a word. Empty if nothing of it shows. */
export function titleFrom(message: string): string {
  const text = withoutInvisible(message.slice(0, MAX_READ).toWellFormed()).replace(/\s+/gu, ' ').trim();
  const characters = Array.from(text);
  if (characters.length <= MAX_TITLE) return text;
  const start = characters.slice(0, MAX_TITLE - 1).join('');
  const border = characters[MAX_TITLE - 1] === ' ' ? start.length : start.lastIndexOf(' ');
  // A text without a blank has no border of words.
  return `${(border > 0 ? start.slice(0, border) : start).trimEnd()}…`;
}

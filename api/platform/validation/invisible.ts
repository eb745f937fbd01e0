/**
 * Characters that show nothing, or that change the order in which others show: controls, format characters (bidirectional marks, zero-width
 * characters, tags), fillers of Hangul, joiners, and the variation selectors that carry no form of an emoji. Line breaks and tabs are text.
 */
const INVISIBLE =
  /[\p{Cf}\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]|\p{Default_Ignorable_Code_Point}(?<!\ufe0f)|(?![\t\n\r])\p{Cc}|\p{Cs}/gu;
/** Zero-width joiner and selector of the colored form, where they join emojis. */
const IN_EMOJI = /(?<=\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?)\ufe0f?\u200d(?=\p{Extended_Pictographic})/gu;

const getName = (character: string): string => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Returns a text without invisible characters; separators of lines and paragraphs become line breaks. */
export const withoutInvisible = (text: string): string =>
  text.replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n').replace(INVISIBLE, '');

/** Returns a text with each invisible character written out, such as `⟨U+202E⟩`, except those that join emojis. */
export const withVisibleNames = (text: string): string =>
  text.replace(INVISIBLE, (character, at: number) => (isInEmoji(text, at) ? character : `⟨${getName(character)}⟩`));

/** Returns the first invisible character of a text by its name, such as `U+202E`; undefined if there is none. Joined emojis have none. */
export function findInvisible(text: string): string | undefined {
  for (const { 0: character, index } of text.matchAll(INVISIBLE)) if (!isInEmoji(text, index)) return getName(character);
  return undefined;
}

/** Returns whether the character at `at` joins two emojis. */
function isInEmoji(text: string, at: number): boolean {
  IN_EMOJI.lastIndex = 0;
  const around = text.slice(Math.max(0, at - 5), at + 4);
  return [...around.matchAll(IN_EMOJI)].some(({ 0: joined, index }) => {
    const start = Math.max(0, at - 5) + index;
    return at >= start && at < start + joined.length;
  });
}

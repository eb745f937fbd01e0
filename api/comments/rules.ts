/** A mention starts a word: `ada@example.com` mentions nobody. */
const MENTION = /(?<![\p{L}\p{N}._+@-])@([\p{L}\p{N}._+-]+)/gu;

/** User names a text mentions, in lower case, without the punctuation of the sentence, in the order of first appearance (C9). */
export function mentionedNames(content: string): string[] {
  const names = [...content.matchAll(MENTION)].map((match) => (match[1] as string).replace(/[.+-]+$/, '').toLowerCase());
  return [...new Set(names)].filter((name) => name !== '');
}

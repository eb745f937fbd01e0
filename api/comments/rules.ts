/** A mention starts a word: `ada@example.com` mentions nobody. It ends with what is no punctuation, which is found in one pass. */
const MENTION = /(?<![\p{L}\p{N}._+@-])@([\p{L}\p{N}._+-]*[\p{L}\p{N}_])/gu;

/** User names a text mentions, in lower case, without the punctuation of the sentence, in the order of first appearance (C9). */
export function mentionedNames(content: string): string[] {
  return [...new Set([...content.matchAll(MENTION)].map((match) => (match[1] as string).toLowerCase()))];
}

/** Matches a mention. It starts a word, so `ada@example.com` is none, and ends before punctuation. Linear time. */
export const MENTION = /(?<![\p{L}\p{N}._+@-])@([\p{L}\p{N}._+-]*[\p{L}\p{N}_])/gu;

/** Returns the mentioned user names in lower case, without trailing punctuation, in order of first appearance. */
export function mentionedNames(content: string): string[] {
  return [...new Set([...content.matchAll(MENTION)].map((match) => (match[1] as string).toLowerCase()))];
}

/**
 * A name that somebody gave, as text in Markdown: one line, without mark-up, link or picture. Temporal's pages render what they show, and an
 * operator reads it there among our own words.
 */
export const escapeMarkdown = (name: string): string =>
  name
    .replace(/[\s\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/[\\`*_[\]<>]/g, '\\$&')
    .replaceAll('://', ':\\//');

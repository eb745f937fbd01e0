/**
 * Escapes a user-given name for Markdown: one line, without markup, links or images. Temporal's pages render Markdown, and
 * operators read the name there among our own text.
 */
export const escapeMarkdown = (name: string): string =>
  name
    .replace(/[\s\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/[\\`*_[\]<>]/g, '\\$&')
    .replaceAll('://', ':\\//');

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Bold, code and links of Markdown. A mark that is not closed in its paragraph is text. */
const MARKS = /\*\*(?=\S)([^*\n]+?)\*\*|`([^`\n]+)`|\[([^[\]\n]+)\]\((https?:\/\/[^\s()]+)\)/g;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] as string);

function markUp(_whole: string, bold?: string, code?: string, label?: string, address?: string): string {
  if (bold !== undefined) return `<strong>${bold}</strong>`;
  // The address is shown and not linked: the text may hold words of an event's sender.
  return code === undefined ? `${label} (${address})` : `<code>${code}</code>`;
}

/** Returns a text of people as HTML: escaped, with bold and code of Markdown. It adds no link and no image. */
export const richText = (text: string): string => escaped(text).replace(MARKS, markUp);

/** Returns a text of people without the marks of Markdown, for mails and lists. */
export const plainText = (text: string): string =>
  text.replace(MARKS, (_whole, bold?: string, code?: string, label?: string, address?: string) =>
    label === undefined ? (bold ?? code ?? '') : `${label} (${address})`,
  );

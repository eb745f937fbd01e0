/** Bold, code and links of Markdown. A mark that is not closed on its line is text. */
const MARKS = /\*\*(?=\S)([^*\n]+?)\*\*|`([^`\n]+)`|\[([^[\]\n]+)\]\((https?:\/\/[^\s()]+)\)/g;

/** Returns a message without the marks of Markdown. A link becomes its label with the address, so that nothing hides where it leads. */
export const plainText = (text: string): string =>
  text.replace(MARKS, (_whole, bold?: string, code?: string, label?: string, address?: string) =>
    label === undefined ? (bold ?? code ?? '') : `${label} (${address})`,
  );

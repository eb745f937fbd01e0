/** Bold, code and links of Markdown. A mark that is not closed on its line is text. */
const MARKS = /\*\*(?=\S)([^*\n]+?)\*\*|`([^`\n]+)`|\[([^[\]\n]+)\]\((https?:\/\/[^\s()]+)\)/g;

/** A picture of Markdown, also one whose end was cut off. */
const PICTURE = /!\[([^[\]\n]*)(?:\](?:\([^)\s]*(?:\)|$))|\]?$)/g;

/** Returns a text in which a picture counts as its name without the ending: "image". */
export const withoutPictures = (text: string): string =>
  text.replaceAll(PICTURE, (_whole, name: string) => name.replace(/\.\w{2,5}$/, '') || 'image');

/** Returns a message without the marks of Markdown. A link becomes its label with the address, so that nothing hides where it leads. */
export const plainText = (text: string): string =>
  withoutPictures(text).replace(MARKS, (_whole, bold?: string, code?: string, label?: string, address?: string) =>
    label === undefined ? (bold ?? code ?? '') : `${label} (${address})`,
  );

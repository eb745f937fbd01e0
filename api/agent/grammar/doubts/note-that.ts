import type { BareClause } from '../clauses.js';
import type { Reading } from '../reading.js';
import type { Token } from '../tokens.js';
import type { LinkedItem } from '../tokens.js';
import { CONNECTING, getWord } from '../words.js';

const MAX_TITLE = 100;
const ARTICLES = new Set(['the', 'a', 'an', 'our', 'my', 'this', 'that']);
/** Most words of a text that are looked at. */
const MAX_LOOKED = 60;

/** A title from the beginning of a text. */
function titleOf(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  if (line.length <= MAX_TITLE) return line;
  const cut = line.slice(0, MAX_TITLE).toWellFormed();
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), MAX_TITLE / 2))}…`;
}

/** Linked items that a text names: by their titles, or by two words of one that stand side by side. */
function namedIn({ index }: Reading, tokens: readonly Token[]): LinkedItem[] {
  const found = new Set<LinkedItem>();
  let before = '';
  for (const token of tokens.slice(0, MAX_LOOKED)) {
    if (token.kind === 'item') for (const item of token.items) found.add(item);
    const word = token.kind === 'word' && !CONNECTING.has(token.text) && !ARTICLES.has(token.text) ? token.text : '';
    if (word !== '' && before !== '') for (const item of index.find([before, word])) found.add(item);
    before = getWord(token) === '' ? '' : word;
  }
  return [...found];
}

/**
 * Reads `note that TEXT`: a note, unless the text names something linked, or stands behind another clause. Then it may be a comment, which is asked.
 * @param tokens of the text
 */
export function noteThat(reading: Reading, tokens: readonly Token[], text: string, isFirst: boolean): BareClause {
  const items = namedIn(reading, tokens);
  if (isFirst && items.length === 0) return { does: 'note', title: titleOf(text), text };
  return { does: 'which_note', text, items };
}

import { quote } from '../../../agent/grammar/doubts/naming.js';
import type { Mentioned } from '../../../agent/turns/end-turn.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';

/** A part of an answer: text, or the quoted title of an item. */
interface AnswerPart {
  text: string;
  /** Null for text. */
  item_id: string | null;
}

/** Lines of an answer: text as it is written, or the entries of a list. */
export interface AnswerBlock {
  isList: boolean;
  lines: AnswerPart[][];
}

/** Begins an entry of a list. */
const BULLET = /^[-*] /;

/** Splits the parts of an answer into lines; a title that it names stays whole. */
function splitLines(parts: readonly AnswerPart[]): AnswerPart[][] {
  const lines: AnswerPart[][] = [[]];
  for (const { text, item_id } of parts)
    for (const [at, piece] of (item_id === null ? text.split('\n') : [text]).entries()) {
      if (at > 0) lines.push([]);
      if (piece !== '') lines.at(-1)?.push({ text: piece, item_id });
    }
  return lines;
}

/** Returns an answer as its page shows it: lines that begin with "- " are the entries of a list, all others stay as they are. */
export function splitAnswer(content: string, mentions: readonly Mentioned[]): AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  for (const [first, ...rest] of splitLines(splitMentions(content, mentions))) {
    const isList = first?.item_id === null && BULLET.test(first.text) && (first.text.length > 2 || rest.length > 0);
    const line = first ? [isList ? { ...first, text: first.text.replace(BULLET, '') } : first, ...rest] : [];
    if (blocks.at(-1)?.isList === isList) blocks.at(-1)?.lines.push(line);
    else blocks.push({ isList, lines: [line] });
  }
  // The empty line around a list is its margin.
  return blocks.map(({ isList, lines }, at) => {
    const from = !isList && at > 0 && lines[0]?.length === 0 ? 1 : 0;
    const to = !isList && at < blocks.length - 1 && lines.length > from && lines.at(-1)?.length === 0 ? -1 : lines.length;
    return { isList, lines: lines.slice(from, to) };
  });
}

/** Splits an answer at the titles that it names, each where it stands next in the text. A title that is not there is left out. */
function splitMentions(content: string, mentions: readonly Mentioned[]): AnswerPart[] {
  const parts: AnswerPart[] = [];
  let at = 0;
  const add = (end: number, item_id: string | null): void => {
    if (end > at) parts.push({ text: withVisibleNames(content.slice(at, end)), item_id });
    at = end;
  };
  for (const { item_id, title } of mentions) {
    const quoted = quote(title);
    const start = content.indexOf(quoted, at);
    if (start < 0) continue;
    add(start, null);
    add(start + quoted.length, item_id);
  }
  add(content.length, null);
  return parts;
}

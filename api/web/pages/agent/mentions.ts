import { quote } from '../../../agent/grammar/doubts/naming.js';
import type { Mentioned } from '../../../agent/turns/end-turn.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';

/** A part of an answer: text, or the quoted title of an item. */
interface AnswerPart {
  text: string;
  /** Null for text. */
  item_id: string | null;
}

/** Splits an answer at the titles that it names, each where it stands next in the text. A title that is not there is left out. */
export function splitMentions(content: string, mentions: readonly Mentioned[]): AnswerPart[] {
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

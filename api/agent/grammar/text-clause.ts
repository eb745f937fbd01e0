import type { BareClause } from './clauses.js';
import { noteThat } from './doubts/note-that.js';
import { Matcher, type Pattern, pattern } from './pattern.js';
import { isSoft, type Reading } from './reading.js';
import type { Token } from './tokens.js';
import { getWord, startsWith } from './words.js';

/** Heads of a comment, before its text. */
const COMMENT_HEADS: readonly Pattern[] = [
  'comment|reply|respond on|to T',
  'add|leave|post|write|put|make a|another? comment|reply|remark|note on|to|for|at|under T',
  'note on|to|for T',
  'write on|under T',
  'tell|ask T',
  'tell|ask|remind P on|in|about|under|regarding T',
  'comment|note',
  'add|leave|post|write a|another? comment|reply|remark|note',
].map(pattern);
/** Heads of a comment for a member, on what the clause before was about. */
const TELLING: readonly Pattern[] = ['tell|ask|inform|message P', 'let P know'].map(pattern);
/** What follows such a head; it is never the end of a name, or a member could be called so that another is told. */
const ABOUT = new Set(['why', 'about', 'it', 'this', 'that']);
/** What `that` and a note follow. */
const NOTE_THAT: readonly Pattern[] = ['note', 'add|leave|write|make|take|create|put a|another? note', 'note down?'].map(pattern);
/** Comments with a quoted text. */
const QUOTED: readonly Pattern[] = [
  'comment|write|reply|post|put Q on|to|under T',
  'add|leave|post|write|put a|the? comment Q on|to|for|under T',
  'add Q as a? comment on|to T',
  'comment on|to T Q',
  'add|leave|post|write a comment on|to|for T Q',
].map(pattern);
const BEGINNING = new Set(
  'comment reply respond note create add leave post write put make take tell ask remind inform message let'.split(' '),
);
/** Words before a text, as good as a colon. */
const SAYING = new Set(['saying', 'says', 'that', 'with', 'stating', 'asking']);
const MAX_MARKS = 4;

/** A comment or a note: its clause without the text, and the place where the text begins. */
export interface TextHead {
  /** Takes the text, its tokens, and whether nothing stands before the clause. */
  build: (text: string, tokens: readonly Token[], isFirst: boolean) => BareClause;
  /** Index of the first token of the text; the end of the head if there is none. */
  from: number;
}

const endOfLine = (tokens: readonly Token[], from: number): number => {
  let at = from;
  while (at < tokens.length && tokens[at]?.kind !== 'newline' && tokens[at]?.kind !== 'semicolon') at += 1;
  return at;
};

/** `[(create|add) [a]] note STRING` */
function readNoteTitle(tokens: readonly Token[]): string | undefined {
  let rest = tokens;
  if (['create', 'add', 'write', 'make'].includes(getWord(rest[0]))) rest = rest.slice(1);
  if (rest !== tokens && (startsWith(rest, 'a') || startsWith(rest, 'the'))) rest = rest.slice(1);
  if (rest.length === 3 && ['called', 'named', 'titled'].includes(getWord(rest[1]))) rest = [rest[0] as Token, rest[2] as Token];
  const title = rest[1];
  return startsWith(rest, 'note') && rest.length === 2 && title?.kind === 'string' ? title.value : undefined;
}

function readHead(reading: Reading, head: readonly Token[], isColon: boolean, isThat: boolean): TextHead['build'] | undefined {
  const title = isColon ? readNoteTitle(head) : undefined;
  if (title !== undefined) return (text) => ({ does: 'note', title, text });
  if (head.length > 24) return undefined;
  const matcher = new Matcher(reading, head);
  const telling = new Matcher(reading, head.slice(0, head.findLastIndex((token) => !ABOUT.has(getWord(token))) + 1));
  const whom = isColon ? TELLING.map((each) => telling.match(each, 'all')?.P).find((each) => each?.kind === 'name') : undefined;
  const mention = whom?.kind === 'name' ? reading.people.mention(whom.name) : undefined;
  if (mention) return (text) => ({ does: 'comment', target: { kind: 'same' }, text: text === '' ? '' : `${mention} ${text}` });
  for (const certainty of isColon ? (['all', 'none'] as const) : (['all'] as const))
    for (const each of COMMENT_HEADS) {
      const slots = matcher.match(each, certainty);
      const target = slots?.T ?? { kind: 'it' as const };
      if (slots && (isColon || slots.T || (isThat && getWord(head[0]) !== 'note')))
        return (text) => ({ does: 'comment', target, text });
    }
  const isNote = isThat && NOTE_THAT.some((each) => matcher.match(each, 'all'));
  return isNote ? (text, tokens, isFirst) => noteThat(reading, tokens, text, isFirst) : undefined;
}

/** Reads the head of a comment or a note that begins here; undefined if none does. */
export function readTextHead(reading: Reading, tokens: readonly Token[], from: number): TextHead | undefined {
  if (!BEGINNING.has(getWord(tokens[from]))) return undefined;
  const end = endOfLine(tokens, from);
  let marks = 0;
  for (let at = from + 1; at < end && marks < MAX_MARKS && at - from < 40; at += 1) {
    const token = tokens[at] as Token;
    const isColon = token.kind === 'colon';
    if (!isColon && !(token.kind === 'word' && SAYING.has(token.text))) continue;
    marks += 1;
    const build = readHead(reading, tokens.slice(from, at), isColon, getWord(token) === 'that');
    if (build) return { build, from: at + (['says', 'that'].includes(getWord(tokens[at + 1])) && !isColon ? 2 : 1) };
    if (isColon) break;
  }
  return undefined;
}

/** Reads a comment whose text is quoted, or which has none. */
export function readQuotedComment(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  if (!BEGINNING.has(getWord(tokens[0])) || tokens.length > 24) return undefined;
  const matcher = new Matcher(reading, tokens);
  for (const each of QUOTED) {
    const { T: target, Q: text } = matcher.match(each, 'none') ?? {};
    if (target && text !== undefined) return { does: 'comment', target, text };
  }
  if (!['comment', 'reply'].includes(getWord(tokens[0])) || tokens.some(isSoft)) return undefined;
  const target = matcher.match(COMMENT_HEADS[0] as Pattern, 'none')?.T;
  return target && { does: 'comment', target, text: '' };
}

import type { BareClause, Clause } from './clauses.js';
import { type ClauseReader, readClause } from './read-clause.js';
import { readTarget } from './target.js';
import { type LinkedItem, type Token, tokenize, type Tokenized } from './tokens.js';
import { POLITE, VERBS, startsWith, getWord } from './words.js';

const isSeparator = (token: Token): boolean =>
  token.kind === 'newline' || token.kind === 'semicolon' || (token.kind === 'word' && token.text === 'and');
const isPolite = (token: Token): boolean => token.kind === 'word' && POLITE.has(token.text);

/** Requests around a clause that mean nothing for it, such as `could you`. */
const OPENINGS = [
  ['can', 'you'],
  ['could', 'you'],
  ['would', 'you'],
];

/** Returns the place of the first token that belongs to a clause. */
function skipOpening(tokens: readonly Token[], from: number): number {
  let at = from;
  for (;;) {
    const token = tokens[at];
    if (!token) return at;
    const opening = OPENINGS.find((words) => startsWith(tokens.slice(at, at + 2), ...words));
    if (opening) at += opening.length;
    else if (isSeparator(token) || isPolite(token) || token.kind === 'mark' || token.kind === 'colon') at += 1;
    else return at;
  }
}

/** Drops politeness and punctuation from the end. */
function trimClosing(tokens: readonly Token[]): readonly Token[] {
  let end = tokens.length;
  for (; end > 0; end -= 1) {
    const token = tokens[end - 1] as Token;
    if (startsWith(tokens.slice(Math.max(0, end - 2), end), 'thank', 'you')) end -= 1;
    else if (!(isPolite(token) || token.kind === 'mark' || token.kind === 'colon')) break;
  }
  return tokens.slice(0, end);
}

/** Returns the place of the separator behind a clause without free text. */
function endOfClause(tokens: readonly Token[], from: number): number {
  let at = from;
  while (at < tokens.length && !isSeparator(tokens[at] as Token)) at += 1;
  return at;
}

/** Returns the place where a text ends: at the line's end, or at a `;` before a verb. */
function endOfText(tokens: readonly Token[], from: number): number {
  let looked = 0; // up to here no verb follows, so that many `;` in a row are looked behind once
  for (let at = from; at < tokens.length; at += 1) {
    const { kind } = tokens[at] as Token;
    if (kind === 'newline') return at;
    if (kind !== 'semicolon' || at < looked) continue;
    looked = skipOpening(tokens, at);
    if (VERBS.has(getWord(tokens[looked]))) return at;
  }
  return tokens.length;
}

/** The head of a comment or a note, before its colon. */
type Head = { does: 'comment'; of: readonly Token[] } | { does: 'note'; title: string };

/** `(comment|reply) (on|to) TARGET` or `[(create|add) [a]] note STRING` */
function readHead(tokens: readonly Token[]): Head | undefined {
  const first = getWord(tokens[0]);
  if ((first === 'comment' || first === 'reply') && ['on', 'to'].includes(getWord(tokens[1])))
    return { does: 'comment', of: tokens.slice(2) };
  let rest = tokens;
  if (startsWith(rest, 'create') || startsWith(rest, 'add')) rest = rest.slice(1);
  if (rest !== tokens && (startsWith(rest, 'a') || startsWith(rest, 'the'))) rest = rest.slice(1);
  const title = rest[1];
  return startsWith(rest, 'note') && rest.length === 2 && title?.kind === 'string'
    ? { does: 'note', title: title.value }
    : undefined;
}

/** Returns the place of the colon before a text, on the same line and before any `;`. */
function colonAfter(tokens: readonly Token[], from: number): number | undefined {
  for (let at = from; at < tokens.length; at += 1) {
    const { kind } = tokens[at] as Token;
    if (kind === 'colon') return at;
    if (kind === 'newline' || kind === 'semicolon') return undefined;
  }
  return undefined;
}

const BEGINS_TEXT = new Set(['comment', 'reply', 'note', 'create', 'add']);

/** Reads the clauses of one message, front to back. */
class MessageReader {
  private at = 0;

  constructor(
    private readonly message: Tokenized,
    private readonly reader: ClauseReader,
  ) {}

  /** Returns the next clause, or undefined at the end. */
  next(): Clause | undefined {
    const { tokens, written } = this.message;
    this.at = skipOpening(tokens, this.at);
    const start = tokens[this.at]?.start;
    if (start === undefined) return undefined;
    const clause = this.textClause() ?? this.plainClause();
    return { ...clause, written: written(start, tokens[this.at - 1]?.end ?? start) } as Clause;
  }

  private plainClause(): BareClause {
    const { tokens } = this.message;
    const end = endOfClause(tokens, this.at);
    const clause = readClause(this.reader, trimClosing(tokens.slice(this.at, end)));
    this.at = end;
    return clause;
  }

  /** A comment or a note: a head, a colon, and text that may hold separators. */
  private textClause(): BareClause | undefined {
    const { tokens } = this.message;
    if (!BEGINS_TEXT.has(getWord(tokens[this.at]))) return undefined;
    const colon = colonAfter(tokens, this.at);
    const head = readHead(tokens.slice(this.at, colon ?? endOfClause(tokens, this.at)));
    if (!head) return undefined;
    const text = colon === undefined ? this.skipClause() : this.textAfter(colon);
    if (head.does === 'note') return { does: 'note', title: head.title, text };
    const target = readTarget(this.message, head.of);
    return target ? { does: 'comment', target, text } : { does: 'unclear' };
  }

  private skipClause(): string {
    this.at = endOfClause(this.message.tokens, this.at);
    return '';
  }

  /** A quoted string alone, or the rest of the line. */
  private textAfter(colon: number): string {
    const { tokens, written } = this.message;
    const first = tokens[colon + 1];
    if (first?.kind === 'string') {
      const end = endOfClause(tokens, colon + 1);
      if (trimClosing(tokens.slice(colon + 1, end)).length === 1) {
        this.at = end;
        return first.value;
      }
    }
    this.at = endOfText(tokens, colon + 1);
    const last = tokens[this.at - 1];
    return first && last && this.at > colon + 1 ? written(first.start, last.end) : '';
  }
}

/** Reads the clauses of a message. Titles and ids of linked items are names as a whole, whatever they are made of. */
export function parse(message: string, items: readonly LinkedItem[], today: string): Clause[] {
  const tokenized = tokenize(message, items);
  const reader = new MessageReader(tokenized, { message: tokenized, today });
  const clauses: Clause[] = [];
  for (let clause = reader.next(); clause; clause = reader.next()) clauses.push(clause);
  return clauses;
}

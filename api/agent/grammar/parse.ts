import { readTopic } from './aside.js';
import type { BareClause, Clause } from './clauses.js';
import { beginsList, beginsTask } from './creating/create.js';
import { MAX_TOKENS } from './pattern.js';
import { isCorrection, WHAT_CHANGES, withoutInstead, withoutReplaced } from './following/correction.js';
import { readEllipsis, type Repeatable, repeatableOf } from './following/ellipsis.js';
import { findMentions, hasBothKinds, lastNamed, type Mention } from './referents.js';
import { readKnownClause, readUnknownClause } from './read-clause.js';
import { isCondition, NO_CONDITION } from './later.js';
import { isSoft, type Reading } from './reading.js';
import { readQuotedComment, readTextHead } from './text-clause.js';
import { wantUnknown } from './want-unknown.js';
import type { Token } from './tokens.js';
import { ASKING, CONTINUING, findPriority, isPriorityWord, OPENINGS, POLITE, STATING } from './words.js';
import { startsWith, getWord, VERBS, WRITING } from './words.js';

const isHard = (token: Token): boolean => token.kind === 'newline' || token.kind === 'semicolon' || token.kind === 'stop';
const isPolite = (token: Token): boolean => token.kind === 'word' && POLITE.has(token.text);
const isNothing = (token: Token): boolean => token.kind === 'colon' || (token.kind === 'mark' && token.text !== '@');

const OPENING_WORDS = new Set(OPENINGS.map(([first]) => first));
/** The number of tokens of a request that stands here. */
const openingAt = (tokens: readonly Token[], at: number, first: string): number =>
  OPENING_WORDS.has(first)
    ? (OPENINGS.find((words) => words.every((word, i) => getWord(tokens[at + i]) === word))?.length ?? 0)
    : 0;

/** Returns the place of the first token that belongs to a clause. */
function skipOpening(tokens: readonly Token[], from: number): number {
  let at = from;
  for (;;) {
    const token = tokens[at];
    if (!token) return at;
    const opening = token.kind === 'word' ? openingAt(tokens, at, token.text) : 0;
    if (opening > 0) at += opening;
    else if (isHard(token) || isSoft(token) || isPolite(token) || isNothing(token)) at += 1;
    else return at;
  }
}

/** Drops politeness and punctuation from the end. */
function trimClosing(tokens: readonly Token[]): readonly Token[] {
  let end = tokens.length;
  for (; end > 0; end -= 1) {
    const token = tokens[end - 1] as Token;
    if (startsWith(tokens.slice(Math.max(0, end - 2), end), 'thank', 'you')) end -= 1;
    else if (!(isPolite(token) || isNothing(token) || isSoft(token) || isHard(token))) break;
  }
  return tokens.slice(0, end);
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

/** Words behind a verb that begins a clause of its own, although titles are listed: `…, and close it`. Behind a colon all else is a title. */
const POINTING = {
  colon: new Set(['it', 'its', 'them', 'their', 'these', 'all', 'everything']),
  words: new Set(['it', 'its', 'them', 'their', 'the', 'this', 'that', 'these', 'all', 'everything']),
};
const WHOSE_WORDS =
  'Where does the title end? Put it in quotation marks: create a task “…” and close “…”. Or write the changes in separate lines.';
type ListKind = keyof typeof POINTING | 'no';

/** Reads the clauses of one message, front to back. */
export class MessageReader {
  private at = 0;
  /** First token of the clause before, for one that leaves the verb out: `close A, assign B to Mia and C to Bo`. */
  private verb: Token | undefined;
  private isFirst = true;

  private readonly mentions: readonly Mention[];

  /** `earlier`: who was named last in the messages before. `repeatable`: the change of the message before. */
  constructor(
    private reading: Reading,
    private readonly earlier: readonly string[],
    private repeatable: Repeatable,
  ) {
    this.mentions = findMentions(reading.message.tokens, reading.people);
  }

  /** Who was named last in the message, or before it. */
  namedLast(before = this.reading.message.tokens.length): readonly string[] {
    const { tokens } = this.reading.message;
    const names = lastNamed(tokens, this.mentions, before);
    if (before < tokens.length && hasBothKinds(tokens, before)) return [...new Set(this.mentions.map(({ name }) => name))];
    return names.length > 0 ? names : this.earlier;
  }

  /** Returns the next clause, or undefined at the end. */
  next(): Clause | undefined {
    const { tokens, written } = this.reading.message;
    this.at = skipOpening(tokens, this.at);
    while (this.isFirst && isCorrection(tokens, this.at)) this.at = skipOpening(tokens, this.at + 1);
    const first = tokens[this.at];
    if (!first) return undefined;
    this.reading = { ...this.reading, persons: this.namedLast(this.at), isAsked: false };
    const start = this.at;
    const clause = this.textClause() ?? this.topicClause() ?? this.plainClause();
    this.isFirst = false;
    this.repeatable = repeatableOf([clause]) ?? this.repeatable;
    wantUnknown(this.reading, clause, trimClosing(tokens.slice(start, this.at)));
    return { ...clause, written: written(first.start, tokens[this.at - 1]?.end ?? first.start) } as Clause;
  }

  /** A comment or a note: a head, a colon, and text that may hold separators. */
  private textClause(): BareClause | undefined {
    const { tokens } = this.reading.message;
    const head = readTextHead(this.reading, tokens, this.at);
    if (!head) return undefined;
    const text = this.textFrom(head.from);
    return head.build(text, tokens.slice(head.from, this.at), this.isFirst);
  }

  /** What the rest of a line is about. */
  private topicClause(): BareClause | undefined {
    const topic = readTopic(this.reading, this.reading.message.tokens.slice(this.at, this.at + MAX_TOKENS));
    if (topic) this.at += topic.length;
    return topic?.clause;
  }

  /** A quoted string alone, or the rest of the line. */
  private textFrom(from: number): string {
    const { tokens, written } = this.reading.message;
    const first = tokens[from];
    if (first?.kind === 'string') {
      const end = this.endOfClause(from);
      if (trimClosing(tokens.slice(from, end)).length === 1) {
        this.at = end;
        return first.value;
      }
    }
    this.at = endOfText(tokens, from);
    const last = tokens[this.at - 1];
    return first && last && this.at > from ? written(first.start, last.end) : '';
  }

  private listKind(head: readonly Token[]): ListKind {
    if (!beginsList(head)) return 'no';
    return head.some(({ kind }) => kind === 'colon') ? 'colon' : 'words';
  }

  /** Returns the place of the separator behind a clause that begins here. */
  private endOfClause(from: number): number {
    const { tokens } = this.reading.message;
    const head = tokens.slice(from, from + 16);
    const isList = this.listKind(head);
    const hasList = isList !== 'no';
    const isWriting = WRITING.has(getWord(tokens[from])) || beginsTask(head);
    let isVerbal = VERBS.has(getWord(tokens[from]));
    let at = from;
    for (; at < tokens.length; at += 1) {
      const token = tokens[at] as Token;
      if (isHard(token)) return at;
      isVerbal ||= token.kind === 'word' && STATING.has(token.text);
      if (isSoft(token) && this.opensClause(at, isList, isWriting, isVerbal)) return at;
      if (at > from && isVerbal && !isWriting && !hasList && this.addsPriority(at)) return at;
    }
    return at;
  }

  /** Whether `with high priority` begins here, which is a change of its own. */
  private addsPriority(at: number): boolean {
    const { tokens } = this.reading.message;
    if (getWord(tokens[at]) !== 'with') return false;
    const words = tokens.slice(at + 1, at + 4).map(getWord);
    const end = words.findIndex(isPriorityWord);
    return end > 0 && findPriority(words.slice(0, end)) !== undefined;
  }

  /** Whether a clause of its own begins behind a comma or `and`. */
  private opensClause(separator: number, isList: ListKind, isWriting: boolean, isVerbal: boolean): boolean {
    const { tokens } = this.reading.message;
    if (isSoft(tokens[separator + 1])) return false;
    const at = skipOpening(tokens, separator);
    const token = tokens[at];
    if (token?.kind !== 'word') return token?.kind === 'item' && !isWriting && isList === 'no' && isVerbal && this.states(at);
    if (VERBS.has(token.text)) return isList === 'no' || POINTING[isList].has(getWord(tokens[at + 1]));
    if (isWriting || isList !== 'no') return false;
    return CONTINUING.has(token.text) || (isVerbal && (ASKING.has(token.text) || this.states(at)));
  }

  /** Whether a statement begins here, such as `the budget is done`. */
  private states(from: number): boolean {
    const { tokens } = this.reading.message;
    for (let at = from + 1; at < Math.min(tokens.length, from + 12); at += 1) {
      const token = tokens[at] as Token;
      if (isHard(token) || isSoft(token)) return false;
      if (token.kind === 'word' && STATING.has(token.text))
        return getWord(tokens[at - 1]) !== 'that' && getWord(tokens[at - 1]) !== 'which';
    }
    return false;
  }

  private plainClause(): BareClause {
    const { tokens } = this.reading.message;
    const start = this.at;
    const end = this.endOfClause(start);
    this.reading = { ...this.reading, isAsked: this.isQuestionMark(end) };
    const trimmed = withoutReplaced(this.reading, trimClosing(tokens.slice(start, end)));
    const clause = this.isFirst ? withoutInstead(trimmed) : trimmed;
    this.at = end;
    if (!this.isFirst && isCorrection(tokens, start)) return { does: 'doubt', text: WHAT_CHANGES };
    if (isCondition(clause) && isSoft(tokens[end])) return { does: 'doubt', text: NO_CONDITION };
    const isWhole = this.isFirst && skipOpening(tokens, end) >= tokens.length;
    const again = readEllipsis(this.reading, clause, {
      before: this.repeatable,
      whole: isWhole && !this.reading.isAsked ? tokens : [],
      read: (rest) => this.read(rest, false),
    });
    const read = again ?? this.read(clause, isWhole) ?? this.readFront(start, end) ?? readQuotedComment(this.reading, clause);
    this.verb ??= tokens[start];
    if (read?.does === 'create' && this.mayContinueTitle(clause, end)) return { does: 'doubt', text: WHOSE_WORDS };
    if (read) return read;
    return readUnknownClause(this.reading, clause);
  }

  /** Whether what follows an unquoted title could be a part of it: `create a task to call Bo and close the website`. */
  private mayContinueTitle(clause: readonly Token[], end: number): boolean {
    const { tokens } = this.reading.message;
    if (!isSoft(tokens[end]) || clause.some(({ kind }) => kind === 'string')) return false;
    const at = skipOpening(tokens, end);
    return VERBS.has(getWord(tokens[at])) && !POINTING.colon.has(getWord(tokens[at + 1]));
  }

  private isQuestionMark(at: number): boolean {
    const { tokens, written } = this.reading.message;
    const token = tokens[at];
    return token?.kind === 'stop' && written(token.start, token.end) === '?';
  }

  private read(tokens: readonly Token[], isWhole: boolean): BareClause | undefined {
    const read = readKnownClause(this.reading, tokens, isWhole);
    const [first] = tokens;
    if (read) {
      if (first && VERBS.has(getWord(first))) this.verb = first;
      return read;
    }
    return this.verb && first && !this.isFirst ? readKnownClause(this.reading, [this.verb, ...tokens], false) : undefined;
  }

  /** Reads what stands before the first, or the last, comma or `and`, if it is a clause; the rest is the next one. */
  private readFront(start: number, end: number): BareClause | undefined {
    const { tokens } = this.reading.message;
    // `late or new, and urgent`: what the end belongs to, nobody knows.
    if (tokens.slice(start, end).some((token) => getWord(token) === 'or')) return undefined;
    const soft = tokens.slice(start, Math.min(end, start + MAX_TOKENS)).flatMap((token, i) => (isSoft(token) ? [start + i] : []));
    for (const at of new Set([soft.at(-1), soft[0]])) {
      const read = at === undefined ? undefined : this.read(trimClosing(tokens.slice(start, at)), false);
      // What stands behind is more of what it names then, and not another change.
      if (!read || at === undefined || read.does === 'incomplete') continue;
      this.at = at;
      return read;
    }
    return undefined;
  }
}

import { type Folded, fold, foldName, isWordChar } from './fold.js';

/** An item as the grammar needs it. */
export interface LinkedItem {
  type: 'task' | 'project' | 'note' | 'idea' | 'file' | 'whiteboard';
  id: string;
  title: string;
  /** Of a task: what people call it, HAR-12. */
  key?: string | null;
  status: string;
  /** Of a task: its cycle; absent where it was not read. */
  cycle?: { name: string; status: string } | null;
  /** Of a task: words of the values of its custom fields, by their names in lower case; absent where they were not read. */
  fields?: Readonly<Record<string, string>> | null;
  /** Of a task: name of its stage. */
  stage?: string | null;
  /** Of a task that is done: why, if nobody completed it. */
  resolution?: string | null;
  team_id: string;
  project_id: string | null;
  /** Of a task. */
  priority?: string | null;
  /** Of a task: YYYY-MM-DD. */
  due?: string | null;
  assigned_to?: string | null;
  /** Name of the member who has it. */
  assignee?: string | null;
  tags?: readonly string[];
  is_blocked?: boolean;
  /** Absent for an item that is linked. */
  isLinked?: false;
  /** Of a task: name of its project. */
  project_title?: string | null;
}

/** An item that an answer of ours named. */
export type NamedItem = Pick<LinkedItem, 'id' | 'title'>;

interface Span {
  /** Place in the folded text. */
  start: number;
  end: number;
}
/** `text` is folded; `value` is the inside of a quoted string as it was written. */
export type Token = Span &
  (
    | { kind: 'newline' | 'semicolon' | 'colon' | 'comma' | 'stop' }
    | { kind: 'word' | 'mark'; text: string }
    | { kind: 'string'; value: string }
    | { kind: 'item'; text: string; items: readonly LinkedItem[] }
  );

/** A message in tokens. */
export interface Tokenized {
  tokens: readonly Token[];
  /** Returns what was written from the start of one token to the start of another, trimmed. */
  written: (start: number, end: number) => string;
  /** Items by folded title and id. */
  names: NameIndex;
}

/** What an apostrophe stands for, by the letters behind it. */
const CONTRACTED: Readonly<Record<string, string>> = { s: "'s", ll: 'will', re: 'are', ve: 'have', d: 'would', m: 'am' };
/** Words that the possessive `'s` never follows: there it is the verb. */
const BEFORE_IS = new Set('what who where when how it that there he she this which here'.split(' '));
const APOSTROPHES = "'’";

interface Name {
  text: string;
  items: LinkedItem[];
}

/** A place in the tree of names: what may follow, and the name that ends here. */
interface Branch {
  next: Map<string, Branch>;
  name?: Name;
}

/** Linked titles, numbers and ids as a tree of characters. Two items of one title share a name. */
class NameIndex {
  private readonly byName = new Map<string, Name>();
  private readonly root: Branch = { next: new Map() };

  constructor(items: readonly LinkedItem[]) {
    for (const item of items)
      for (const name of new Set([item.title, item.id, item.key ?? ''].map(foldName))) this.add(name, item);
  }

  private add(text: string, item: LinkedItem): void {
    if (text === '') return;
    const known = this.byName.get(text);
    if (known) {
      known.items.push(item);
      return;
    }
    let branch = this.root;
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charAt(at);
      const next = branch.next.get(char) ?? { next: new Map<string, Branch>() };
      branch.next.set(char, next);
      branch = next;
    }
    branch.name = { text, items: [item] };
    this.byName.set(text, branch.name);
  }

  /** Items of exactly this title or id. */
  find(name: string): readonly LinkedItem[] {
    return this.byName.get(foldName(name))?.items ?? [];
  }

  /** The longest name that stands at a place and ends at the border of a word. */
  longestAt(text: string, start: number): Name | undefined {
    let longest: Name | undefined;
    let branch = this.root.next.get(text.charAt(start));
    for (let at = start + 1; branch; at += 1) {
      if (branch.name && !continuesWord(text, at)) longest = branch.name;
      branch = branch.next.get(text.charAt(at));
    }
    return longest;
  }
}

const CLOSING: Readonly<Record<string, string>> = { '"': '"', '“': '”', '„': '“', '«': '»' };
/** Characters that join letters to one word: `in-progress`, `2026-12-01`, `sam@example.org`. */
const JOINERS = "-'’.@";

const charAt = (text: string, at: number): string => {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
};
const isWordAt = (text: string, at: number): boolean => {
  const char = charAt(text, at);
  return char !== '' && isWordChar(char);
};
const isJoinerAt = (text: string, at: number): boolean => JOINERS.includes(text.charAt(at) || ' ') && isWordAt(text, at + 1);
/** Returns whether an apostrophe and the letters of a contraction stand here, and the word ends behind them. */
const contractionAt = (text: string, at: number): string | undefined => {
  if (!APOSTROPHES.includes(text.charAt(at) || ' ')) return undefined;
  return Object.keys(CONTRACTED).find((letters) => text.startsWith(letters, at + 1) && !isWordAt(text, at + 1 + letters.length));
};
const isWordBefore = (text: string, at: number): boolean => {
  const low = text.charCodeAt(at - 1);
  return at > 0 && isWordAt(text, low >= 0xdc00 && low <= 0xdfff ? at - 2 : at - 1);
};

/** Returns whether a word that ends here goes on: `Login` is not the name in `Login-500`. */
const continuesWord = (text: string, at: number): boolean =>
  isWordBefore(text, at) && (isWordAt(text, at) || (isJoinerAt(text, at) && contractionAt(text, at) === undefined));

/** A word with a plain apostrophe; `can't` is the same as `cannot`. */
function wordOf(text: string): string {
  const word = text.replaceAll('’', "'");
  return word === "can't" || word === 'cant' ? 'cannot' : word;
}
const NEGATED = /^(is|are|was|were|has|have|had|do|does|did|should|could|would|must|need)n'?t$/;

/** `isn't` is two words, so that no pattern overlooks the `not`. */
function splitNegation(token: Token): Token[] {
  const isWill = token.kind === 'word' && (token.text === "won't" || token.text === 'wont');
  const verb = isWill ? 'will' : token.kind === 'word' ? NEGATED.exec(token.text)?.[1] : undefined;
  if (verb === undefined) return [token];
  const { start, end } = token;
  const border = start + verb.length;
  return [
    { kind: 'word', text: verb, start, end: border },
    { kind: 'word', text: 'not', start: border, end },
  ];
}

/** Returns the place behind the word that starts here. */
function endOfWord(text: string, start: number): number {
  let at = start;
  while (isWordAt(text, at) || (at > start && isJoinerAt(text, at) && !contractionAt(text, at))) at += charAt(text, at).length;
  return at;
}

const PUNCTUATION: Readonly<Record<string, 'newline' | 'semicolon' | 'colon' | 'comma' | 'stop'>> = {
  '\n': 'newline',
  ';': 'semicolon',
  ':': 'colon',
  ',': 'comma',
  '.': 'stop',
  '!': 'stop',
  '?': 'stop',
};

/** Reads tokens from the front of the folded text. */
class Reader {
  /** Kinds of quotes that nothing closes any more on this line: each is looked for once. */
  private readonly open = new Map<string, number>();

  constructor(
    private readonly message: string,
    private readonly folded: Folded,
    private readonly names: NameIndex,
  ) {}

  /** Returns the token at a place that is no blank. A linked name wins over a quoted string that is no longer than it. */
  read(start: number): Token {
    const { text } = this.folded;
    const item = isWordBefore(text, start) && isWordAt(text, start) ? undefined : this.names.longestAt(text, start);
    const string = this.stringAt(start);
    if (item && start + item.text.length >= (string?.end ?? 0))
      return { kind: 'item', start, end: start + item.text.length, text: item.text, items: item.items };
    if (string) return string;
    const contracted = contractionAt(text, start);
    if (contracted !== undefined && isWordBefore(text, start)) return this.contraction(start, contracted);
    const end = endOfWord(text, start);
    if (end > start) return { kind: 'word', start, end, text: wordOf(text.slice(start, end)) };
    const char = charAt(text, start);
    const kind = PUNCTUATION[char];
    return kind ? { kind, start, end: start + 1 } : { kind: 'mark', text: char, start, end: start + char.length };
  }

  private contraction(start: number, letters: string): Token {
    const { text } = this.folded;
    let from = start;
    while (from > 0 && isWordAt(text, from - 1)) from -= 1;
    const before = text.slice(from, start);
    const isVerb = letters === 's' && BEFORE_IS.has(before);
    const said = before === 'let' ? 'us' : isVerb ? 'is' : (CONTRACTED[letters] as string);
    return { kind: 'word', start, end: start + 1 + letters.length, text: said };
  }

  private stringAt(start: number): Token | undefined {
    const { text, at } = this.folded;
    const quote = text.charAt(start);
    const closing = CLOSING[quote];
    if (closing === undefined || (this.open.get(quote) ?? -1) > start) return undefined;
    const line = text.indexOf('\n', start);
    const lineEnd = line < 0 ? text.length : line;
    const close = text.indexOf(closing, start + 1);
    if (close < 0 || close > lineEnd) {
      this.open.set(quote, close < 0 ? text.length : lineEnd);
      return undefined;
    }
    return { kind: 'string', start, end: close + 1, value: this.message.slice(at[start + 1], at[close]).trim() };
  }
}

/** Splits a message into tokens, in time proportional to its length and the number of linked items. */
export function tokenize(message: string, items: readonly LinkedItem[]): Tokenized {
  const folded = fold(message);
  const names = new NameIndex(items);
  const reader = new Reader(message, folded, names);
  const tokens: Token[] = [];
  for (let at = 0; at < folded.text.length; ) {
    if (folded.text.charAt(at) === ' ') at += 1;
    else {
      const token = reader.read(at);
      tokens.push(...splitNegation(token));
      at = token.end;
    }
  }
  return { tokens, names, written: (start, end) => message.slice(folded.at[start], folded.at[end]).trim() };
}

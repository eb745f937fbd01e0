import { type Duration, readDate, readDuration, readNumber, type WrittenDate } from '../../platform/written-days.js';
import type { DateRange } from '../../platform/written-ranges.js';
import { readCycleName } from './asking/cycle-name.js';
import { readPastRange } from './asking/past-range.js';
import type { Target } from './clauses.js';
import { readCode } from './sets/field-values.js';
import { type Choice, readFieldNames, readStages } from './sets/own-words.js';
import { readPerson } from './referents.js';
import { type Reading, wordsOf, writtenOf } from './reading.js';
import { readTarget } from './target.js';
import type { Assignee, CycleName, Priority, Status } from './terms.js';
import type { Token } from './tokens.js';
import { CONNECTING, findPriority, findState, getWord } from './words.js';

/** What the slots of a pattern took, by their letters. */
export interface Slots {
  /** Target. */
  T: Target;
  /** Second target. */
  U: Target;
  /** Person. */
  P: Assignee;
  /** Status. */
  S: Status;
  /** Priority. */
  R: Priority;
  /** Date. */
  D: WrittenDate;
  /** Length of time. */
  N: Duration;
  /** Hours. */
  H: number;
  /** Points, without their unit or with one in the same word. */
  E: number;
  /** Text: a quoted string, or all that was written. */
  X: string;
  /** A quoted string. */
  Q: string;
  /** Tag: one word, or a quoted string. */
  G: string;
  /** Days that are over, or today. */
  W: DateRange;
  /** Cycle. */
  C: CycleName;
  /** Names of the stages that it may mean. */
  K: readonly string[];
  /** Names of the custom fields that it may mean. */
  F: readonly string[];
  /** A code that is a choice of one custom field. */
  V: Choice;
}
type Slot = keyof Slots;
type Element = { words: ReadonlySet<string>; isOptional: boolean } | { slot: Slot };

/** A pattern of words and slots: `assign T to P`, `a|b` for alternatives, `a?` for words that may be absent. */
export interface Pattern {
  elements: readonly Element[];
  /** Words one of which any message of this pattern begins with; null if a slot comes first. */
  opening: ReadonlySet<string> | null;
  /** Some words that must be there. */
  anchors: readonly ReadonlySet<string>[];
}

const SLOT = /^[TUPSRDNHEXQGWCKFV]$/;

/** Compiles a pattern. */
export function pattern(text: string): Pattern {
  const elements = text.split(' ').map((part): Element => {
    if (SLOT.test(part)) return { slot: part as Slot };
    const isOptional = part.endsWith('?');
    const words = (isOptional ? part.slice(0, -1) : part).split('|');
    return { words: new Set(words.includes('priority') ? [...words, 'prio'] : words), isOptional };
  });
  const anchors = elements.flatMap((element) => ('words' in element && !element.isOptional ? [element.words] : []));
  const [first] = elements;
  const opening = first && 'words' in first && !first.isOptional ? first.words : null;
  return { elements, opening, anchors };
}

/** A slot as it was read; an uncertain one names nothing known. */
interface Taken {
  value: Slots[Slot];
  isKnown: boolean;
}

const known = (value: Slots[Slot] | undefined): Taken | undefined => (value === undefined ? undefined : { value, isKnown: true });

function readText(reading: Reading, tokens: readonly Token[]): string | undefined {
  const [first] = tokens;
  if (first?.kind === 'string') return tokens.length === 1 ? first.value : undefined;
  return writtenOf(reading, tokens);
}

const DETERMINING = new Set(['the', 'next', 'last', 'a', 'an', 'my', 'our']);
const isDetermining = (token: Token | undefined): boolean => token?.kind === 'word' && DETERMINING.has(token.text);
const isConnecting = (token: Token | undefined): boolean => token?.kind === 'word' && CONNECTING.has(token.text);

const isPossessive = (token: Token | undefined, text: string): boolean => token?.kind === 'word' && token.text === text;

const target = (reading: Reading, tokens: readonly Token[]): Taken | undefined => {
  const isOwned = isPossessive(tokens.at(-1), "'s") && !tokens.some((token) => isPossessive(token, 'of'));
  if (isPossessive(tokens[0], 'its') || isOwned) return undefined;
  if (isConnecting(tokens[0]) || isConnecting(tokens.at(-1)) || isDetermining(tokens.at(-1))) return undefined;
  const read = readTarget(reading, tokens);
  return read && { value: read.target, isKnown: read.isKnown };
};

const some = (names: readonly string[]): readonly string[] | undefined => (names.length === 0 ? undefined : [...new Set(names)]);

const HOURS = new Set(['hour', 'hours', 'h', 'hrs']);
const READERS: Readonly<Record<Slot, (reading: Reading, tokens: readonly Token[]) => Taken | undefined>> = {
  T: target,
  U: target,
  P: (reading, tokens) => {
    const [first] = tokens;
    const words = first?.kind === 'string' && tokens.length === 1 ? first.value.toLowerCase().split(/\s+/) : wordsOf(tokens);
    const read = readPerson(reading, words);
    return read && { value: read.to, isKnown: read.isKnown };
  },
  S: (_reading, tokens) => known(tokens.length <= 4 ? findState(wordsOf(tokens)) : undefined),
  R: (_reading, tokens) => known(tokens.length <= 4 ? findPriority(wordsOf(tokens)) : undefined),
  D: ({ today }, tokens) =>
    known(tokens.length <= 8 ? readDate(wordsOf(tokens.filter(({ kind }) => kind !== 'comma')), today) : undefined),
  N: (_reading, tokens) => known(tokens.length <= 6 ? readDuration(wordsOf(tokens)) : undefined),
  H: (_reading, tokens) => {
    const [count, unit = '', more] = wordsOf(tokens);
    const hours = readNumber(count);
    return known(hours !== undefined && HOURS.has(unit) && more === undefined ? hours : undefined);
  },
  E: (_reading, tokens) => {
    const [count, more] = wordsOf(tokens);
    const points = readNumber(/^(\d+)(?:pts?|points?)$/.exec(count ?? '')?.[1] ?? count);
    return known(more === undefined && Number.isInteger(points) ? points : undefined);
  },
  X: (reading, tokens) => known(readText(reading, tokens)),
  Q: (_reading, tokens) => known(tokens.length === 1 && tokens[0]?.kind === 'string' ? tokens[0].value : undefined),
  G: (_reading, tokens) => {
    const [first] = tokens;
    const text = first?.kind === 'string' ? first.value : getWord(first);
    return known(tokens.length === 1 && text !== '' ? text : undefined);
  },
  W: ({ today }, tokens) => known(tokens.length <= 7 ? readPastRange(wordsOf(tokens), today) : undefined),
  C: (_reading, tokens) => known(readCycleName(tokens)),
  K: ({ own }, tokens) => known(some(readStages(own, wordsOf(tokens)).map(({ name }) => name))),
  V: ({ own }, tokens) => known(readCode(own, wordsOf(tokens))),
  F: ({ own }, tokens) => known(some(readFieldNames(own, wordsOf(tokens)))),
};
/** Slots that are read only after everything else fits, because they take any tokens. */
const LATE: ReadonlySet<Slot> = new Set<Slot>(['T', 'U', 'X']);
/** How many of the targets and persons of a pattern must be known. */
export type Certainty = 'all' | 'some' | 'none';

/** A clause of a pattern is no longer than this, in tokens: a longer one is none that a person would write. */
export const MAX_TOKENS = 80;
/** Steps of one matching; more than a sentence needs. */
const MAX_STEPS = 2_000;

/** Matches patterns against the tokens of one clause. */
export class Matcher {
  private readonly words: ReadonlySet<string>;
  private readonly taken = new Map<string, Taken | undefined>();
  private steps = 0;

  constructor(
    private readonly reading: Reading,
    private readonly tokens: readonly Token[],
  ) {
    this.words = new Set(tokens.map(getWord));
  }

  /** Returns the slots if all tokens fit the pattern. */
  match({ elements, opening, anchors }: Pattern, certainty: Certainty): Partial<Slots> | undefined {
    if (opening && !opening.has(getWord(this.tokens[0]))) return undefined;
    if (!anchors.every((anchor) => [...anchor].some((word) => this.words.has(word)))) return undefined;
    this.steps = 0;
    return this.from(elements, 0, 0, [], certainty);
  }

  private from(
    elements: readonly Element[],
    e: number,
    t: number,
    spans: readonly (readonly [Slot, number, number])[],
    certainty: Certainty,
  ): Partial<Slots> | undefined {
    this.steps += 1;
    if (this.steps > MAX_STEPS) return undefined;
    const element = elements[e];
    if (!element) return t === this.tokens.length ? this.read(spans, certainty) : undefined;
    if ('words' in element) {
      const token = this.tokens[t];
      const isHere = token !== undefined && token.kind !== 'string' && element.words.has(getWord(token));
      const found = isHere ? this.from(elements, e + 1, t + 1, spans, certainty) : undefined;
      return found ?? (element.isOptional ? this.from(elements, e + 1, t, spans, certainty) : undefined);
    }
    const isLast = e === elements.length - 1;
    for (let end = this.tokens.length; end > t; end -= 1) {
      if (!LATE.has(element.slot) && !this.take(element.slot, t, end)) continue;
      const found = this.from(elements, e + 1, end, [...spans, [element.slot, t, end]], certainty);
      if (found) return found;
      if (isLast) break;
    }
    return undefined;
  }

  private take(slot: Slot, start: number, end: number): Taken | undefined {
    const key = `${slot}${start}:${end}`;
    if (!this.taken.has(key)) this.taken.set(key, READERS[slot](this.reading, this.tokens.slice(start, end)));
    return this.taken.get(key);
  }

  private read(spans: readonly (readonly [Slot, number, number])[], certainty: Certainty): Partial<Slots> | undefined {
    const slots: Record<string, Slots[Slot]> = {};
    let [certain, uncertain] = [0, 0];
    for (const [slot, start, end] of spans) {
      const taken = this.take(slot, start, end);
      if (!taken) return undefined;
      slots[slot] = taken.value;
      if (slot === 'T' || slot === 'U' || slot === 'P') {
        if (taken.isKnown) certain += 1;
        else uncertain += 1;
        if (uncertain > 0 && certainty === 'all') return undefined;
      }
    }
    if (certainty === 'some' && uncertain > 0 && certain === 0) return undefined;
    return slots as Partial<Slots>;
  }
}

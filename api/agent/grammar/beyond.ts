import { foldName } from './fold.js';
import { indexSets, phraseStems, WordIndex } from './match.js';
import type { LinkedItem } from './tokens.js';
import { innerWords } from './words.js';

/** Different names that one message may look up. */
const MAX_WANTED = 12;

/** Words by which a message names something that is not linked. */
export interface Phrase {
  key: string;
  /** As they were said: one of them may be an id. */
  words: readonly string[];
  /** Those that tell an item from another. */
  stems: readonly string[];
}

/** What the words of a phrase may mean. `isCut`: more than were read. */
interface Found {
  items: readonly LinkedItem[];
  index: WordIndex<LinkedItem>;
  isCut: boolean;
}

const keyOf = (words: readonly string[]): string => words.join(' ');

/** Tasks of the linked projects that are not linked themselves. `isCut`: there are more. */
export interface CoveredTasks {
  items: readonly LinkedItem[];
  isCut: boolean;
}

/** Whether a word is the id of an item, or what people call it. */
export const isNamed = ({ id, key }: Pick<LinkedItem, 'id' | 'key'>, word: string | undefined): boolean =>
  word !== undefined && (id === word || key?.toLowerCase() === word);

/** Of items that words mean, those whose whole title they are. */
function exactFirst(items: readonly LinkedItem[], words: readonly string[]): readonly LinkedItem[] {
  const exact = items.filter(({ title }) => foldName(title) === keyOf(words));
  return exact.length > 0 ? exact : items;
}

/**
 * Tasks and projects of the session's teams that are not linked. Their titles are no names in a message, as linked ones are, so that nobody
 * writes a title that takes a sentence over: they are found by words that a clause says where it names something, and only if nothing
 * linked has these (docs/decisions/agent.md#tasks-that-are-not-linked).
 */
export class Beyond {
  private readonly found = new Map<string, Found>();
  private readonly nearBy = new Map<string, readonly LinkedItem[]>();
  private readonly wanted = new Map<string, Phrase>();
  private readonly known = new Map<string, LinkedItem>();
  private count = 0;
  private covered: { tasks: CoveredTasks; index: WordIndex<LinkedItem>; sets: ReturnType<typeof indexSets> } | undefined;

  /** The index is behind, or the look-up took too long: what was found may not be all, so that it counts as nothing. */
  isPartial = false;

  /** `projectIds`: linked projects, whose tasks come before others. */
  constructor(private readonly projectIds: ReadonlySet<string> = new Set()) {}

  /** Tasks of the linked projects, once they were read. */
  get coveredTasks(): CoveredTasks | undefined {
    return this.covered?.tasks;
  }

  cover(tasks: CoveredTasks): void {
    this.know(tasks.items);
    this.covered = { tasks, index: new WordIndex(tasks.items), sets: indexSets(tasks.items) };
  }

  /** Notes words to look up, and those inside of words that a sentence may have around a name. */
  want(words: readonly string[]): void {
    for (const said of [words, innerWords(words)]) {
      const key = keyOf(said);
      const { distinctive } = phraseStems(said);
      if (distinctive.length === 0 || this.found.has(key) || this.wanted.has(key) || this.count >= MAX_WANTED) continue;
      this.count += 1;
      this.wanted.set(key, { key, words: said, stems: distinctive });
    }
  }

  /** Returns what is to be looked up, and forgets it. */
  takeWanted(): Phrase[] {
    const phrases = [...this.wanted.values()];
    this.wanted.clear();
    return phrases;
  }

  /** An item that was found. */
  byId(id: string): LinkedItem | undefined {
    return this.known.get(id);
  }

  private know(items: readonly LinkedItem[]): void {
    for (const item of items) this.known.set(item.id, item);
  }

  /** Whether an item is a task of a linked project, so that it needs no link of its own. */
  isCovered({ type, project_id }: Pick<LinkedItem, 'type' | 'project_id'>): boolean {
    return type === 'task' && project_id !== null && this.projectIds.has(project_id);
  }

  /** The items that are not linked among those with these ids. */
  among(ids: ReadonlySet<unknown>): LinkedItem[] {
    return [...this.known.values()].filter(({ id }) => ids.has(id));
  }

  add(key: string, items: readonly LinkedItem[], isCut: boolean): void {
    this.know(items);
    this.found.set(key, { items, index: new WordIndex(items), isCut });
  }

  /** Keeps items with some of the words of a name that no item has as a whole. */
  addNear(key: string, items: readonly LinkedItem[]): void {
    this.know(items);
    this.nearBy.set(key, items);
  }

  /** Items with some of the words, which a question may offer. */
  near(words: readonly string[]): readonly LinkedItem[] {
    return [...(this.covered?.index.near(words) ?? []), ...(this.nearBy.get(keyOf(words)) ?? [])];
  }

  /** Whether more items have the words than were read. */
  isCut(words: readonly string[]): boolean {
    return this.found.get(keyOf(words))?.isCut === true;
  }

  /** Whether tasks of linked projects have all of these words, as their title, a tag or the name of the project. */
  covers(words: readonly string[]): boolean {
    return [this.covered?.index, this.covered?.sets].some((index) => (index?.find(words).length ?? 0) > 0);
  }

  /**
   * The items that words mean: several, if it is open which. A title with words of a sentence around it counts only as a whole, and beside
   * what the words inside mean.
   */
  find(words: readonly string[], linked: WordIndex<LinkedItem>): readonly LinkedItem[] {
    if (this.isPartial) return [];
    const inner = innerWords(words);
    if (inner.length === words.length) return this.pick(words);
    const whole = this.pick(words).filter(({ title }) => foldName(title) === keyOf(words));
    return whole.length === 0 ? [] : [...new Set([...whole, ...linked.find(inner), ...this.pick(inner)])];
  }

  private pick(words: readonly string[]): readonly LinkedItem[] {
    const found = this.found.get(keyOf(words));
    const byId = (found?.items ?? []).filter((item) => words.length === 1 && isNamed(item, words[0]));
    if (byId.length > 0) return byId;
    // If there are more than were read, one of them alone says nothing.
    const covered = this.covered && !this.covered.tasks.isCut ? this.covered.index.find(words) : [];
    if (covered.length > 0) return exactFirst(covered, words);
    if (!found || found.isCut) return [];
    const meant = found.index.find(words);
    const near = meant.filter((item) => this.isCovered(item));
    return exactFirst(near.length > 0 ? near : meant, words);
  }
}

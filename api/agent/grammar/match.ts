import { foldName } from './fold.js';
import { NOUNS, PLURALS } from './words.js';

/** Words of a phrase that tell no item from another. */
const EMPTY = new Set(
  'the a an of for to in on at with our my this that and or about from its their your some by new existing linked current whole entire'.split(
    ' ',
  ),
);
const MAX_WORDS = 12;

/** Shortest root that an ending leaves. */
const MIN_ROOT = 4;
const ENDING = /(?:ing|ed|er|ion|ment|ness|(?<=at)or|(?<=[vws])al)$/;
const DOUBLED = /([bdgmnprt])\1$/;

/** Returns a word without an ending that leaves enough of it. */
const without = (word: string, ending: string, least = MIN_ROOT): string =>
  word.endsWith(ending) && word.length - ending.length >= least ? word.slice(0, word.length - ending.length) : word;

/** Returns a word without `s`, `es` and `ies`. */
function singular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/**
 * Returns a word without its usual endings, so that `migration` meets `Migrate`, `policies` meets `policy` and `notification` meets `Notify`.
 * What is left begins the word, but for a short one that ends with `y`.
 */
export function stem(word: string): string {
  let rest = singular(word);
  const ending = ENDING.exec(rest)?.[0] ?? '';
  const root = without(rest, ending);
  const isDerived = ending !== '' && root !== rest;
  // `planning` is of `plan`, and `formatting` of `format`.
  if (isDerived && DOUBLED.test(root)) return root.slice(0, -1);
  const bare = root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root;
  const isVerbal = isDerived || bare !== root;
  rest = isVerbal ? without(without(bare, 'at'), 'ic', bare.endsWith('at') ? MIN_ROOT + 1 : Infinity) : bare;
  // `documentation` is of `document`, `delivery` of `deliver`, and `notified` of `notify`.
  if (isDerived) rest = without(rest, 'ment');
  const short = without(without(rest, 'y', MIN_ROOT + 1), 'i', MIN_ROOT + 1);
  return isDerived || short !== rest ? without(short, 'er') : short;
}

const SEPARATORS = /[^\p{L}\p{N}\p{M}_]+/u;

/** Stems of the words of a title; a compound counts as a whole and in its parts. */
export function titleStems(title: string): Set<string> {
  const folded = foldName(title);
  const whole = folded.split(' ').map((word) => stem(word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')));
  const parts = folded.split(SEPARATORS).map(stem);
  return new Set([...whole, ...parts].filter((word) => word !== ''));
}

/** Stems of the words in a phrase that may tell an item from another; `distinctive` leaves out the kinds of items too. */
export function phraseStems(words: readonly string[]): { all: string[]; distinctive: string[] } {
  const telling = words.filter((word) => word !== '' && word !== "'s" && !EMPTY.has(word));
  const distinctive = telling.filter((word) => !NOUNS.has(word) && !PLURALS.has(word));
  const stems = (list: readonly string[]) => [...new Set(list.map(stem))].slice(0, MAX_WORDS);
  return { all: stems(telling), distinctive: stems(distinctive) };
}

interface Titled {
  title: string;
}

/**
 * Items by the words of their titles. A phrase means an item if all its words are in the title, and a title that has more words than
 * the phrase is as good as another: then several are meant, and the person has to say which.
 */
export class WordIndex<T extends Titled> {
  private readonly stems: readonly { item: T; stems: ReadonlySet<string> }[];
  /** Places of the items that have a word: a sentence asks for very many spans of words, of which nearly all mean nothing. */
  private readonly places = new Map<string, number[]>();

  constructor(items: readonly T[]) {
    this.stems = items.map((item) => ({ item, stems: titleStems(item.title) }));
    for (const [place, { stems }] of this.stems.entries())
      for (const word of stems) {
        const known = this.places.get(word);
        if (known) known.push(place);
        else this.places.set(word, [place]);
      }
  }

  /** The items whose titles have all the words; none for a phrase without words that tell items apart. */
  find(words: readonly string[]): T[] {
    const { all, distinctive } = phraseStems(words);
    if (distinctive.length === 0) return [];
    const exact = this.having(all);
    return exact.length > 0 ? exact : this.having(distinctive);
  }

  /** Items whose titles have at least one of the words, most of them first. */
  near(words: readonly string[]): T[] {
    const scores = new Map<number, number>();
    for (const word of phraseStems(words).distinctive)
      for (const place of this.places.get(word) ?? []) scores.set(place, (scores.get(place) ?? 0) + 1);
    return [...scores].sort(([a, more], [b, most]) => most - more || a - b).flatMap(([place]) => this.stems[place]?.item ?? []);
  }

  private having(words: readonly string[]): T[] {
    let rarest: readonly number[] | undefined;
    for (const word of words) {
      const places = this.places.get(word);
      if (!places) return [];
      if (!rarest || places.length < rarest.length) rarest = places;
    }
    return (rarest ?? []).flatMap((place) => {
      const { item, stems } = this.stems[place] as (typeof this.stems)[number];
      return words.every((word) => stems.has(word)) ? [item] : [];
    });
  }
}

/** Tags and names of the projects of tasks, by their words. */
export const indexSets = (
  items: readonly { tags?: readonly string[]; project_title?: string | null }[],
): WordIndex<{ title: string }> =>
  new WordIndex(
    [...new Set(items.flatMap(({ tags = [], project_title }) => [...tags, project_title ?? '']))].map((title) => ({ title })),
  );

import { readCycleName } from '../asking/cycle-name.js';
import { phraseStems } from '../match.js';
import type { Found } from '../terms.js';
import { PLURALS } from '../words.js';

/** Sets of tasks that have a name: a tag, a kind, a project. */

/** `tagged web`, `with label web` */
export function readTag(words: readonly string[], at: number): Found | undefined {
  const lead = words[at] === 'with' ? 1 : 0;
  const isTag = ['tagged', 'labelled', 'labeled', 'tag', 'label'].includes(words[at + lead] ?? '');
  const tag = words[at + lead + 1];
  return isTag && tag ? { filter: { tag }, length: lead + 2 } : undefined;
}

/** Words for some kind of task, which only a tag tells, and words for tasks that may be one too. */
const KINDS = new Map([
  ['bugs', 'bug'],
  ['stories', 'story'],
]);
const MAYBE_KINDS = new Map([
  ['issues', 'issue'],
  ['tickets', 'ticket'],
  ['cards', 'card'],
]);

/** `bug tasks`, `bugs`; `issues`, where some task is tagged so */
export function readKind(words: readonly string[], at: number, isTag: (word: string) => boolean): Found | undefined {
  const word = words[at] ?? '';
  if (['bug', 'story'].includes(word) && PLURALS.has(words[at + 1] ?? '')) return { filter: { tag: word }, length: 1 };
  const singular = KINDS.get(word) ?? MAYBE_KINDS.get(word);
  const tag = singular === undefined ? undefined : ([word, singular].find(isTag) ?? KINDS.get(word));
  return tag === undefined ? undefined : { filter: { tag }, length: 1 };
}

const MAX_CYCLE = 5;

/** `in the sprint`, `of sprint 12` */
export function readCycle(words: readonly string[], at: number): Found | undefined {
  if (!['in', 'of', 'from', 'for', 'during', 'within', 'this', 'planned'].includes(words[at] ?? '')) return undefined;
  const from = words[at] === 'this' ? at : at + 1;
  for (let end = Math.min(words.length, from + MAX_CYCLE); end > from; end -= 1) {
    const cycle = readCycleName(words.slice(from, end).map((text) => ({ kind: 'word', text, start: 0, end: 0 })));
    if (cycle?.isSure) return { filter: { cycle }, length: end - at };
  }
  return undefined;
}

/** `in the project Web shop`, `of the Web shop project` */
export function readProject(words: readonly string[], at: number): Found | undefined {
  if (!['in', 'of', 'from', 'under'].includes(words[at] ?? '')) return undefined;
  const from = words[at + 1] === 'the' ? at + 2 : at + 1;
  const noun = words.indexOf('project', from);
  const end = noun === from ? words.length : noun;
  const project = phraseStems(words.slice(noun === from ? from + 1 : from, end)).distinctive;
  if (noun < 0 || project.length === 0 || end - from > 6) return undefined;
  return { filter: { project }, length: (noun === from ? end : noun + 1) - at };
}

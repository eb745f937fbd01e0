import type { Priority, Status } from './terms.js';
import type { Token } from './tokens.js';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Words that begin a clause: behind `and` or a comma the next one starts there, and a `;` in a comment ends it only before one of them. */
export const VERBS = setOf(
  'create add make open log mark set move change close complete finish resolve start begin reopen assign reassign unassign delegate ' +
    'give hand pass rename retitle delete remove trash comment reply note put push postpone delay defer reschedule shift bring pull ' +
    'extend schedule snooze raise lower bump increase decrease reduce prioritise prioritize deprioritise deprioritize clear tag untag label ' +
    'archive unarchive check tick cross send split break turn flag let take drop remind link relate block estimate describe unschedule ' +
    'escalate upgrade downgrade switch swap exchange unblock finalize finalise wrap kick cancel pause park freeze shelve',
);
/** Words that begin a question. */
export const ASKING = setOf('what which who whose when where how is are does do did has have show list find any anything');
/** Words that go on with the change of a clause before: `… to high priority and due Friday`. */
export const CONTINUING = setOf('due its their priority prio deadline assigned');
/** Verbs by which a statement of fact is known to be a clause of its own: `the budget is done and the website is late`. */
export const STATING = setOf('is are should blocks depends needs takes gets goes has does');
/** Verbs of clauses that hold a free text or a title. */
export const WRITING = setOf(
  'create add make open log comment reply note rename retitle call new write leave remind tell describe',
);

/** The word for one kind of value, and its short form. */
export const isPriorityWord = (word: string): boolean => word === 'priority' || word === 'prio';

/** Words with which no name ends or begins, unless a title does. */
export const CONNECTING = setOf('as to into by until till for with is are be at from of on in and or');

export const POLITE = setOf('please kindly thanks then also now hi hello hey ok okay so well and maybe perhaps');
/** Words without meaning inside a clause that holds no free text. */
export const FILLING = setOf('please kindly just also now already really actually currently still right immediately yet');
/** Requests around a clause that mean nothing for it. */
export const OPENINGS: readonly (readonly string[])[] = [
  'can you please tell me',
  'could you please tell me',
  'can you tell me',
  'could you tell me',
  'can you remind me',
  'could you remind me',
  'do you know',
  'i want you to',
  'i would like you to',
  'i need you to',
  'i would like to',
  'i want to',
  'can you',
  'could you',
  'would you',
  'will you',
  'can we',
  'could we',
  'let us',
  'can i',
  'we should',
  'go ahead and',
  'i think we should',
  'i think you should',
  'i guess we should',
  'i would suggest we',
  'i suggest we',
  'i suggest to',
  'you can',
  'you may',
  'you should',
  'we can',
  'we need to',
  'we have to',
  'we must',
  'i have to',
  'i need to',
  'feel free to',
  'time to',
].map((words) => words.split(' '));

/** Nouns that say the kind of an item, or nothing. */
export const NOUNS = setOf(
  'task project note idea file whiteboard item ticket issue bug card todo to-do story thing job one work topic point problem fix matter',
);
/** Nouns for several tasks. */
export const PLURALS = setOf('tasks items tickets issues bugs cards todos to-dos stories things jobs ones work stuff');

const STATE_WORDS: Readonly<Record<Status, string>> = {
  todo: 'todo|to-do|to do|open|backlog|not started|to be done',
  in_progress: 'in_progress|in-progress|in progress|doing|started|underway|ongoing|being worked on|progress|active|wip',
  in_review:
    'in_review|in-review|in review|review|ready for review|under review|for review|to review|waiting for review|reviewed by us|ready to review',
  done: 'done|complete|completed|closed|live|finished|fixed|resolved|ready|solved|shipped|delivered|published|released|launched|deployed|handled|all done',
};
const PRIORITY_WORDS: Readonly<Record<Priority, string>> = {
  none: '',
  low: 'low|lowest|minor|p4',
  medium: 'medium|normal|p3|average|middle',
  high: 'high|important|p2|higher|major',
  urgent: 'urgent|critical|highest|p1|p0|asap|top urgent|top|topmost',
};
const invert = <K extends string>(table: Readonly<Record<K, string>>): ReadonlyMap<string, K> =>
  new Map(Object.entries<string>(table).flatMap(([key, words]) => words.split('|').map((word) => [word, key as K] as const)));
const STATES = invert(STATE_WORDS);
const PRIORITIES_BY_WORD = invert(PRIORITY_WORDS);

/** A word, a mark, or a linked title that is written like one; empty for anything else. */
export const getWord = (token: Token | undefined): string =>
  token?.kind === 'word' || token?.kind === 'item' || token?.kind === 'mark' ? token.text : '';

/** Returns whether the tokens begin with these words. */
export const startsWith = (tokens: readonly Token[], ...words: string[]): boolean =>
  words.every((word, at) => getWord(tokens[at]) === word);

export const findState = (words: readonly string[]): Status | undefined => STATES.get(words.join(' '));

/** A priority, with or without the word. */
export function findPriority(words: readonly string[]): Priority | undefined {
  const rest = words.filter((word, at) => !isPriorityWord(word) && !(at === 0 && ['a', 'an', 'the'].includes(word)));
  const [only = ''] = rest;
  if (rest.length === 1 && words.some(isPriorityWord) && (only === 'no' || only === 'none')) return 'none';
  if (rest.length === 1 && words.length > 1 && /^[0-4]$/.test(only)) return PRIORITIES_BY_WORD.get(`p${only}`);
  return rest.length > 0 && rest.length <= 2 ? PRIORITIES_BY_WORD.get(rest.join(' ')) : undefined;
}

const AROUND = new Set([
  ...CONNECTING,
  ...STATING,
  ...'the a back up out off over down forward due will must can cannot not do'.split(' '),
]);
/** Whether a sentence may have the word before or behind a name. */
const isAround = (word: string): boolean => AROUND.has(word) || word.endsWith("n't");

/** Words of a title without those that a sentence may have around a shorter name: `close the website`, `website into`. */
export function innerWords(words: readonly string[]): string[] {
  let [start, end] = [0, words.length];
  if (VERBS.has(words[0] ?? '')) start += 1;
  while (start < end && isAround(words[start] ?? '')) start += 1;
  while (end > start && isAround(words[end - 1] ?? '')) end -= 1;
  return words.slice(start, end);
}

import type { Status } from './clauses.js';
import type { Token } from './tokens.js';

/** Words that begin a clause; a `;` in a comment ends it only before one of them. */
export const VERBS = new Set(
  (
    'create add make mark set move change close complete finish resolve start begin reopen ' +
    'assign unassign rename delete remove trash comment reply note'
  ).split(' '),
);

/** Status that a verb alone asks for. */
export const VERB_STATUS: Readonly<Record<string, Status>> = {
  close: 'done',
  complete: 'done',
  finish: 'done',
  resolve: 'done',
  start: 'in_progress',
  begin: 'in_progress',
  reopen: 'todo',
};
export const SETTING = new Set(['mark', 'set', 'move', 'change', 'make']);
export const DELETING = new Set(['delete', 'remove', 'trash']);
export const POLITE = new Set(['please', 'kindly', 'thanks', 'then', 'also', 'now']);
export const NOUNS = new Set(['task', 'project', 'note', 'idea', 'file', 'whiteboard', 'item']);

const STATE_WORDS: Readonly<Record<string, Status>> = {
  todo: 'todo',
  'to-do': 'todo',
  'to do': 'todo',
  open: 'todo',
  in_progress: 'in_progress',
  'in-progress': 'in_progress',
  'in progress': 'in_progress',
  doing: 'in_progress',
  started: 'in_progress',
  in_review: 'in_review',
  'in-review': 'in_review',
  'in review': 'in_review',
  review: 'in_review',
  done: 'done',
  complete: 'done',
  completed: 'done',
  closed: 'done',
  finished: 'done',
};

/** A word, or a linked title that is written like one; empty for anything else. */
export const getWord = (token: Token | undefined): string => (token?.kind === 'word' || token?.kind === 'item' ? token.text : '');

/** Returns whether the tokens begin with these words. */
export const startsWith = (tokens: readonly Token[], ...words: string[]): boolean =>
  words.every((word, at) => getWord(tokens[at]) === word);

/** A status that ends the tokens, of one or two words, with the number of its tokens. */
export function stateAtEnd(tokens: readonly Token[]): { status: Status; length: number } | undefined {
  for (const length of [2, 1]) {
    if (tokens.length < length) continue;
    const words = tokens.slice(-length).map(getWord);
    const status = words.includes('') ? undefined : STATE_WORDS[words.join(' ')];
    if (status) return { status, length };
  }
  return undefined;
}

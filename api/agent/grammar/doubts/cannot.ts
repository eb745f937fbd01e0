import type { Does, Target } from '../clauses.js';
import { named, quote } from './naming.js';
import { Question, type Subject } from '../subjects.js';

/** What plans have no change for. Each is told with what comes nearest. */
export const NO_UNDO =
  'I take back whole plans only: write “undo that” for the one that you confirmed last here, or choose “Undo…” at any plan. A plan that you have not confirmed has changed nothing.';
const REMIND = 'I cannot remind people at a time: a plan is done once you confirm it.';
export const NO_REMINDER = `${REMIND} Write for example “create a task Call the bank for Mia due Friday”, or set a due date: the assignee is notified when it comes.`;

const nearest = ({ date }: Does<'cannot'>, title: string): string => {
  const day = typeof date === 'object' ? date.date : null;
  const due = `“set the due date of ${title} to ${day ?? 'Friday'}”`;
  return `Write ${due}, for its assignee is notified when a task is due, or “comment on ${title}: @name …”, which notifies at once.`;
};

/**
 * Says of the items that a clause is about what cannot be done with them, and the nearest sentence.
 * @throws Question if it is not certain which they are
 */
export function sayCannot(clause: Does<'cannot' | 'which_note'>, find: (target: Target) => readonly Subject[]): Question {
  if (clause.does === 'which_note') return sayWhichNote(clause);
  const items = find(clause.target).flatMap(({ item }) => item ?? []);
  const [first] = items;
  const of = items.length > 0 ? ` It is about ${items.slice(0, 5).map(named).join(', ')}.` : '';
  const title = first && items.length === 1 ? (first.key ?? quote(first.title)) : 'it';
  if (clause.what === 'hold')
    return new Question(
      `No state is “on hold”. Say what it waits for, as in “${title} is blocked by …”, write “move ${title} to to do”, or “cancel ${title}”.${of}`,
      items,
    );
  return new Question(`${REMIND} ${nearest(clause, title)}${of}`, items);
}

/** Asks whether a text that names a linked item is a comment on it. */
function sayWhichNote({ text, items }: Does<'which_note'>): Question {
  const [first] = items;
  const comment = first ? `“comment on ${quote(first.title)}: …”` : '“comment on it: …”';
  const of = items.length > 0 ? ` It names ${items.slice(0, 5).map(named).join(', ')}.` : '';
  return new Question(
    `Shall ${quote(text)} be a comment, or a note of its own?${of} Write ${comment}, or “note "Title": …”.`,
    items,
  );
}

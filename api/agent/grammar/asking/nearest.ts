import { stem } from '../match.js';

/** What a sentence names: a task, another one, a member, a project. */
type Slot = 'T' | 'U' | 'P' | 'J';
/** What examples say for them. */
export type Named = Readonly<Partial<Record<Slot, string>>>;

/** The kinds of sentences that the grammar understands: of each the words by which it is found, and an example. */
const KINDS: Readonly<Record<string, readonly (readonly [words: string, sentence: string])[]>> = {
  Ask: [
    ['overdue late behind missed delayed show list', 'what is overdue?'],
    ['who works mine my plate week today have', 'what do I have this week?'],
    ['next first plan day should focus', 'what should I do next?'],
    ['track schedule time release risk', 'are we on track for J?'],
    ['or either also', 'what is overdue or urgent?'],
    ['many count number total statistics report how', 'how many tasks are blocked?'],
    ['workload busy capacity team everyone load overloaded', 'who has the most work?'],
    ['when due deadline', 'when is T due?'],
    ['blocking why stuck waiting', 'what is blocking T?'],
  ],
  'Look back': [
    ['summary summarise summarize status project progress recap update', 'summarize J'],
    ['happened changed new news since happen activity', 'what happened this week?'],
    ['did done yesterday activity history changes who person', 'what did P do yesterday?'],
    ['automation automations machine automatic', 'what did automations change this week?'],
    ['overview explain tell linked', 'summarize the linked items'],
  ],
  Change: [
    ['mark done close complete finish finished closed tick status resolve ready', 'mark T as done'],
    ['start begin progress working work doing continue', 'start T'],
    ['review check reviewed approve look', 'move T to in review'],
    ['reopen again back todo', 'reopen T'],
    ['cancel canceled cancelled abandon skip needless', 'cancel T'],
    ['priority urgent important high low medium critical raise lower', 'set the priority of T to high'],
    ['due date deadline schedule move reschedule when day week tomorrow friday monday calendar', 'move T to next Friday'],
    ['push postpone delay defer later shift extend slip snooze', 'push T by a week'],
    ['comment write note say reply message mention', 'comment on T: the text'],
    ['rename title call name called', 'rename T to “New title”'],
    ['tag label category', 'tag T with finance'],
    ['block blocks blocked depends waiting wait dependency', 'T is blocked by U'],
    ['unblock blocker stuck unstuck', 'unblock T'],
    ['all everything every several overdue', 'move all overdue tasks to Monday'],
    ['delete remove trash drop', 'delete T'],
  ],
  Assign: [
    ['assign give hand delegate owner responsible ask tell who person colleague', 'assign T to me'],
    ['unassign nobody free release', 'unassign T'],
    ['swap switch exchange', 'swap the assignees of T and U'],
    ['ill sick away vacation holiday leave absent his her their', 'P is ill, give their tasks to me'],
  ],
  Create: [
    [
      'create add new task ticket make todo remember remind need',
      'create a task “Call the supplier” in J due Friday and assign it to me',
    ],
    ['break split divide subtask subtasks steps parts plan', 'break T down into draft, review and release'],
  ],
  'Take back': [['undo revert back rollback wrong mistake', 'undo that']],
};
const KEYED = Object.values(KINDS)
  .flat()
  .map(([words, sentence]) => ({ sentence, stems: new Set(words.split(' ').map(stem)) }));
const FALLBACK = ['mark T as done', 'what is overdue?'];
const MAX_WORDS = 60;
const SEPARATORS = /[^\p{L}\p{N}]+/u;
const SLOT = /\b[TUPJ]\b/g;

/** What examples name where nothing real is known. */
const ANY: Required<Named> = { T: 'HAR-12', U: 'HAR-15', P: 'Mia', J: 'the project Harbor' };
const fill = (sentence: string, named: Named): string =>
  sentence.replace(SLOT, (slot) => named[slot as Slot] ?? ANY[slot as Slot]);

/** The one or two sentences that share most words with a message; the first ones if none does. */
export function nearestSentences(message: string, named: Named): string[] {
  const words = message.toLowerCase().slice(0, 1_000).split(SEPARATORS).slice(0, MAX_WORDS).map(stem);
  const scored = KEYED.map(({ sentence, stems }) => ({ sentence, score: words.filter((word) => stems.has(word)).length }));
  const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  const shown = best.length > 0 ? best.slice(0, 2).map(({ sentence }) => sentence) : FALLBACK;
  return shown.map((sentence) => fill(sentence, named));
}

/** Sentences of one kind. */
interface Kind {
  kind: string;
  sentences: string[];
}

/** One sentence of every kind. `only`: only those whose items are all given. */
export function kindsOfSentences(named: Named, only: 'given' | 'any'): Kind[] {
  const isGiven = (sentence: string) => (sentence.match(SLOT) ?? []).every((slot) => named[slot as Slot] !== undefined);
  return Object.entries(KINDS).flatMap(([kind, examples]) => {
    const kept = examples.map(([, sentence]) => sentence).filter((sentence) => only === 'any' || isGiven(sentence));
    return kept.length > 0 ? [{ kind, sentences: kept.map((sentence) => fill(sentence, named)) }] : [];
  });
}

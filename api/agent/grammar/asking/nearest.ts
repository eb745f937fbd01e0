import { stem } from '../match.js';

/** Sentences that the grammar understands, as examples: the words by which each is found, and the sentence about a title. */
const EXAMPLES: readonly (readonly [words: string, sentence: string])[] = [
  ['mark done close complete finish finished closed tick status resolve ready', 'mark T as done'],
  ['start begin progress working work doing continue', 'start T'],
  ['review check reviewed approve look', 'move T to in review'],
  ['reopen again back todo undo', 'reopen T'],
  ['assign give hand delegate owner responsible ask tell who person colleague', 'assign T to me'],
  ['unassign nobody free release', 'unassign T'],
  ['priority urgent important high low medium critical raise lower', 'set the priority of T to high'],
  ['due date deadline schedule move reschedule when day week tomorrow friday monday calendar', 'move T to next Friday'],
  ['push postpone delay defer later shift extend slip snooze', 'push T by a week'],
  [
    'create add new task ticket make todo remember remind need',
    'create a task “Call the supplier” due Friday and assign it to me',
  ],
  ['break split divide subtask subtasks steps parts plan', 'break T down into draft, review and release'],
  ['comment write note say reply message mention', 'comment on T: the text'],
  ['rename title call name called', 'rename T to “New title”'],
  ['delete remove trash drop cancel', 'delete T'],
  ['block blocks blocked depends waiting wait dependency', 'T is blocked by “another title”'],
  ['tag label category', 'tag T with finance'],
  ['overdue late behind missed delayed show list', 'what is overdue?'],
  ['many count number total statistics report how', 'how many tasks are blocked?'],
  ['workload busy capacity team everyone load', 'who has the most work?'],
  ['who works mine my plate week today have', 'what do I have this week?'],
  ['did done yesterday activity history changes who person', 'what did Mia do yesterday?'],
  ['happened changed new news since happen activity', 'what happened this week?'],
  ['summary summarise overview status explain tell recap', 'summarise'],
  ['undo revert back rollback wrong mistake', 'undo that'],
  ['unblock blocker stuck unstuck', 'unblock T'],
  ['ill sick away vacation holiday leave absent his her their', 'Bo is ill, give his tasks to Mia'],
];
const KEYED = EXAMPLES.map(([words, sentence]) => ({ sentence, stems: new Set(words.split(' ').map(stem)) }));
const MAX_WORDS = 60;
const SEPARATORS = /[^\p{L}\p{N}]+/u;

/** The one or two sentences that share most words with a message, about a linked title; the first ones if none does. */
export function nearestSentences(message: string, title: string | undefined): string[] {
  const words = message.toLowerCase().slice(0, 1_000).split(SEPARATORS).slice(0, MAX_WORDS).map(stem);
  const scored = KEYED.map(({ sentence, stems }) => ({ sentence, score: words.filter((word) => stems.has(word)).length }));
  const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  const shown = (best.length > 0 ? best : scored.filter((_each, at) => at === 0 || at === 16)).slice(0, 2);
  return shown.map(({ sentence }) => sentence.replace(/\bT\b/, () => (title === undefined ? 'a linked title' : `“${title}”`)));
}

/** One sentence of every kind, about a task as it is named: by its quoted title, or by its number. */
export const allSentences = (task = 'a linked title'): string[] =>
  EXAMPLES.map(([, sentence]) => sentence.replace(/\bT\b/, () => task));

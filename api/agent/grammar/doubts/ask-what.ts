import type { Does } from '../clauses.js';
import { named } from './naming.js';
import { Question, type Subject } from '../subjects.js';

const ASKED: Readonly<Record<Does<'incomplete'>['lacks'], (what: string) => string>> = {
  person: (what) => `To whom shall ${what} go? Write “to” and a name.`,
  date: (what) => `Until when? Write a day for ${what}, as in “to Friday” or “by a week”.`,
  priority: (what) => `Which priority shall ${what} have: low, medium, high or urgent?`,
  status: (what) => `Which state shall ${what} have: to do, in progress, in review or done?`,
};

/** Asks for the value that a change lacks; the next message may say it alone. */
export function askWhat({ lacks }: Does<'incomplete'>, subjects: readonly Subject[]): Question {
  const items = subjects.flatMap(({ item }) => item ?? []);
  const [first] = items;
  const what = first && items.length === 1 ? named(first) : `${subjects.length} tasks`;
  return new Question(ASKED[lacks](what), items);
}

import type { Clause } from '../clauses.js';
import { MessageReader } from '../parse.js';
import { PeopleIndex } from '../people.js';
import { openReading, type Readers } from '../reading.js';
import { type LinkedItem, tokenize } from '../tokens.js';
import { getWord } from '../words.js';
import { isCorrection } from './correction.js';
import { type Repeatable, repeatableOf } from './ellipsis.js';
import { type Answered, joinWaiting, listedBy, type Previous, readFollowUp } from './follow-up.js';
import { isPronoun, targetsIn } from './targets.js';

/** Clauses of one message: a few more than a plan holds changes. */
const MAX_CLAUSES = 60;
const NO_ANSWER: Answered = { plan: null, named: [] };

/** A message that was read. `start`: the first one that its clauses go on with. */
interface ReadMessage {
  clauses: Clause[];
  named: readonly string[];
  start: number;
}

function readMessage(
  message: string,
  readers: Readers,
  earlier: readonly string[],
  repeatable: Repeatable,
  previous: Previous | undefined,
) {
  const reading = { ...openReading(tokenize(message, readers.items), readers), listed: listedBy(previous) };
  const { tokens } = reading.message;
  const reader = new MessageReader(reading, earlier, repeatable);
  const persons = { ...reading, persons: earlier };
  const followed = previous && readFollowUp(persons, previous);
  if (followed) return { clauses: followed, named: reader.namedLast() };
  const clauses: Clause[] = [];
  for (let clause = reader.next(); clause; clause = reader.next()) {
    clauses.push(clauses.length < MAX_CLAUSES ? clause : { does: 'unclear', written: clause.written });
    if (clauses.length > MAX_CLAUSES) break;
  }
  const isInstead = isCorrection(tokens, 0) || tokens.slice(-2).some((token) => getWord(token) === 'instead');
  return { clauses: previous ? joinWaiting(clauses, previous, isInstead) : clauses, named: reader.namedLast() };
}

const WRITE_ALL = 'That goes on with a message too long ago. Write the whole change in one message.';

/**
 * Reads the clauses of messages of one person, oldest first: `he` is who was named last. Titles and ids of linked items are names as a
 * whole, whatever they are made of (docs/decisions/agent.md#rules-that-read-sentences).
 * @param answers what was answered to each of them but the last
 * @param isCut whether there are messages before them, with which the first one may go on
 */
export function parseAll(
  messages: readonly string[],
  readers: Readers,
  answers: readonly Answered[] = [],
  isCut = false,
): Clause[][] {
  const read: ReadMessage[] = [];
  let repeatable: Repeatable;
  // The message that the next one may go on with: what is not understood, and our question about a plan, leave the plan standing.
  let standing: (Previous & { start: number }) | undefined;
  for (const [at, message] of messages.entries()) {
    const { clauses, named } = readMessage(message, readers, read.at(-1)?.named ?? [], repeatable, standing);
    const start = standing && clauses.some(({ follows }) => follows === true) ? standing.start : at;
    read.push({ clauses, named, start });
    const answered = answers[at] ?? NO_ANSWER;
    const isLost = clauses.length === 0 || clauses.some(({ does }) => does === 'unclear' || does === 'doubt');
    if (!(standing && isLost && answered.plan === null)) standing = { clauses, answered, start };
    repeatable = repeatableOf(clauses);
  }
  const [first, last] = [read[0], read.at(-1)];
  const isOpen = first?.clauses.some((clause) => clause.does === 'unclear' || targetsIn(clause).some(isPronoun)) === true;
  if (isCut && last && first !== last && last.start === 0 && isOpen)
    last.clauses = [{ does: 'doubt', text: WRITE_ALL, written: messages.at(-1) ?? '' }];
  return read.map(({ clauses }) => clauses);
}

/** Reads the clauses of one message. */
export const parse = (message: string, items: readonly LinkedItem[], today: string, people = new PeopleIndex([])): Clause[] =>
  parseAll([message], { items, today, people })[0] ?? [];

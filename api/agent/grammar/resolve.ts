import { absentIn } from './absence.js';
import type { Clause } from './clauses.js';
import type { Outcome } from './outcome.js';
import { Resolver } from './resolver.js';
import { type Before, Question, type RuleWorld } from './subjects.js';

const ASKS = new Set<Clause['does']>(['ask', 'activity', 'about', 'cycle', 'forecast', 'blocking', 'summary', 'help']);

/** What the clauses of earlier messages were about at last, oldest first: `it` in the next one. */
export function subjectsOf(messages: readonly (readonly Clause[])[], world: RuleWorld): Before {
  let before: Before = [];
  for (const clauses of messages) {
    const resolver = new Resolver(world, before);
    try {
      for (const clause of clauses)
        if (clause.does === 'unclear') resolver.lose();
        else if (ASKS.has(clause.does)) resolver.ask(clause);
        else resolver.add(clause);
    } catch (error) {
      if (!(error instanceof Question)) throw error;
    }
    before = resolver.subjects;
  }
  return before;
}

const ONLY_FACTS =
  'I take that as a fact, which changes nothing. What shall change? Write for example “close it”, or “give it to” and a name.';

/**
 * Turns the clauses of a message into a plan, a question, or an answer. If one clause fails, nothing is proposed.
 * @param previous clauses of the message before
 */
export function resolve(
  clauses: readonly Clause[],
  world: RuleWorld,
  before: Before = [],
  previous: readonly Clause[] = [],
): Outcome {
  const unclear = clauses.find(({ does }) => does === 'unclear');
  if (clauses.length === 0 || unclear) {
    return { kind: 'answer', unclear: unclear && clauses.length > 1 ? unclear.written : null };
  }
  const resolver = new Resolver(world, before, absentIn(previous));
  const telling = clauses.filter(({ does }) => does !== 'aside');
  const [first] = telling;
  try {
    if (!first) throw new Question(ONLY_FACTS);
    const asks = telling.filter(({ does }) => ASKS.has(does));
    if (asks.length > 0 && telling.length > 1)
      throw new Question('Ask one question at a time, and change things in a message of their own.');
    if (first.does === 'unblock' && telling.length === 1) {
      for (const aside of clauses.slice(0, clauses.indexOf(first))) resolver.add(aside);
      return resolver.unblock(first);
    }
    if (first.does === 'discard') return { kind: 'discard' };
    if (telling.some(({ does }) => does === 'undo')) {
      if (telling.length > 1) throw new Question('Send “undo that” in a message of its own.');
      return { kind: 'undo' };
    }
    if (telling.some(({ does }) => does === 'unblock')) throw new Question('Send “unblock …” in a message of its own.');
    if (asks.length > 0) return { kind: 'ask', asked: resolver.ask(first) };
    for (const clause of clauses) resolver.add(clause);
  } catch (error) {
    if (error instanceof Question) return { kind: 'question', text: error.message, items: error.items, sets: resolver.sets };
    throw error;
  }
  const replaces = clauses.some((clause) => clause.replaces === true);
  return { kind: 'plan', actions: resolver.actions, ...resolver.notes, sets: resolver.sets, replaces };
}

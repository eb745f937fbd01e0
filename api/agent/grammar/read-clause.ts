import { readAside, withoutAbsence } from './aside.js';
import type { BareClause } from './clauses.js';
import { readCreate } from './creating/create.js';
import type { Form } from './forms/form.js';
import { FORMS } from './forms/task-forms.js';
import { readLater } from './later.js';
import { Matcher, MAX_TOKENS, type Slots } from './pattern.js';
import { readBareQuestion, readQuestion } from './asking/question.js';
import type { Reading } from './reading.js';
import type { Token } from './tokens.js';
import { FILLING, getWord, VERBS } from './words.js';

/** Words at the front of a statement of fact, which change nothing. */
export const withoutFilling = (tokens: readonly Token[]): readonly Token[] =>
  tokens.filter((token, at) => {
    const isAtOnce = getWord(token) === 'away' && ['right', 'straight'].includes(getWord(tokens[at - 1]));
    return !isAtOnce && !(token.kind === 'word' && FILLING.has(token.text));
  });

/** Words of a request, or of an order, whatever mark ends it. */
const isRequest = (token: Token | undefined): boolean =>
  VERBS.has(getWord(token)) || ['can', 'could', 'would', 'will', 'let', 'get'].includes(getWord(token));

/** The first form that fits, where all that it names is known. A statement with a question mark asks about its task. */
function readKnown(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const matcher = new Matcher(reading, tokens);
  for (const form of FORMS) {
    const slots = matcher.match(form.pattern, 'all');
    const clause = slots && form.build(slots as Slots);
    if (!clause) continue;
    if (!reading.isAsked || form.atLeast !== 'all' || isRequest(tokens[0])) return clause;
    return slots.T?.kind === 'named' ? { does: 'about', target: slots.T } : undefined;
  }
  return undefined;
}

const withoutColon = (tokens: readonly Token[]): readonly Token[] => tokens.filter(({ kind }) => kind !== 'colon');

const isImperative = ({ atLeast }: Form): boolean => atLeast !== 'all';

/** The first form that fits although something that it names is not known: its clause becomes a question. */
function readUnknown(matcher: Matcher): BareClause | undefined {
  for (const form of FORMS.filter(isImperative)) {
    const slots = matcher.match(form.pattern, form.atLeast);
    const clause = slots && form.build(slots as Slots);
    if (clause) return clause;
  }
  return undefined;
}

/**
 * Reads one clause, all of whose tokens must fit.
 * @param isWhole whether nothing else stands in the message, so that a name alone asks about its item
 * @returns undefined for none whose names are known
 */
export function readKnownClause(reading: Reading, tokens: readonly Token[], isWhole: boolean): BareClause | undefined {
  const rest = withoutFilling(tokens);
  // A title may be longer than a clause without one.
  const isLong = rest.length > MAX_TOKENS;
  const read = (isLong ? undefined : readQuestion(reading, rest)) ?? readCreate(reading, tokens);
  if (read || isLong || rest.length === 0) return read;
  const known = readAside(reading, rest) ?? readKnown(reading, rest);
  if (known) return known;
  const plain = withoutAbsence(reading, rest);
  const reasoned = plain.length < rest.length ? readKnown(reading, plain) : undefined;
  if (reasoned) return reasoned;
  const bare = isWhole ? readBareQuestion(reading, rest) : undefined;
  return bare ?? readLater(reading, rest, (part) => readKnown(reading, part)) ?? readMarked(reading, rest);
}

/** Reads `prio of the budget: high` as if it had no colon. */
function readMarked(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const rest = withoutColon(tokens);
  return rest.length < tokens.length ? readKnown(reading, rest) : undefined;
}

/** Reads a clause with a name that nothing linked has; `unclear` for none that the grammar knows. */
export function readUnknownClause(reading: Reading, tokens: readonly Token[]): BareClause {
  const rest = withoutFilling(tokens);
  if (rest.length === 0 || rest.length > MAX_TOKENS || getWord(rest[0]) === '') return { does: 'unclear' };
  const verb = getWord(rest[0]);
  const isBare =
    VERBS.has(verb) && (rest.length === 1 || (rest.length === 2 && ['it', 'this', 'that', 'them'].includes(getWord(rest[1]))));
  const doubt = { does: 'doubt', text: `I need to know more: ${verb} what, and how? Write for example “help”.` } as const;
  return readUnknown(new Matcher(reading, rest)) ?? (isBare ? doubt : { does: 'unclear' });
}

import type { BareClause } from './clauses.js';
import { readCreate } from './create.js';
import type { Form } from './form.js';
import { FORMS } from './forms.js';
import { Matcher, MAX_TOKENS, type Slots } from './pattern.js';
import { readBareQuestion, readQuestion } from './question.js';
import type { Reading } from './reading.js';
import type { Token } from './tokens.js';
import { FILLING, getWord, VERBS } from './words.js';

/** Words at the front of a statement of fact, which change nothing. */
const withoutFilling = (tokens: readonly Token[]): readonly Token[] =>
  tokens.filter((token) => !(token.kind === 'word' && FILLING.has(token.text)));

/** The first form that fits, where all that it names is known. */
function readKnown(matcher: Matcher): BareClause | undefined {
  for (const form of FORMS) {
    const slots = matcher.match(form.pattern, 'all');
    const clause = slots && form.build(slots as Slots);
    if (clause) return clause;
  }
  return undefined;
}

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
  const question = readQuestion(reading, withoutFilling(tokens));
  if (question) return question;
  const created = readCreate(reading, tokens);
  if (created) return created;
  const rest = withoutFilling(tokens);
  if (rest.length === 0 || rest.length > MAX_TOKENS) return undefined;
  return readKnown(new Matcher(reading, rest)) ?? (isWhole ? readBareQuestion(reading, rest) : undefined);
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

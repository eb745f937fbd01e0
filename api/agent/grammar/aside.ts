import { readDate } from '../../platform/written-days.js';
import type { BareClause } from './clauses.js';
import { type Pattern, Matcher, pattern } from './pattern.js';
import { isSoft, type Reading, wordsOf } from './reading.js';
import { readPerson } from './referents.js';
import { readTarget } from './target.js';
import type { Assignee } from './terms.js';
import type { Token } from './tokens.js';
import { getWord, VERBS } from './words.js';

/** Sentences of facts: they change nothing, and say whom or what the next ones mean. */

const BEING = new Set(
  "is are was were will be am has had been 's calls called in got gets falls fell feels goes went".split(' '),
);
const LEAVING = new Set(['left', 'leaves', 'quit', 'quits', 'resigned', 'retires', 'retired']);
/** Phrases of who does not work, longest first where one begins with another. */
const AWAY = (
  'enough to do|enough on his plate|enough on her plate|enough on their plate|enough work|enough|' +
  'too much to do|too much on his plate|too much on her plate|too much on their plate|too much work|no time|no capacity|out of office|out of the office|' +
  'on parental leave|on maternity leave|on paternity leave|on sick leave|on leave|on holiday|on holidays|on vacation|on a trip|on a break|' +
  'on a business trip|parental leave|maternity leave|sick leave|leaving the company|leaving|leaving us|the company|in hospital|in the hospital|' +
  'ill|sick|unwell|away|off|out|absent|gone|unavailable|not available|not here|not in|not there|not at work|traveling|travelling|busy|very busy|' +
  'too busy|overloaded|overworked|swamped|back|free|a cold|the flu|flu|a day off|days off|vacation|holiday|holidays|leave'
)
  .split('|')
  .map((phrase) => phrase.split(' '))
  .sort((a, b) => b.length - a.length);
const GIVING_REASONS = new Set(['because', 'since', 'as', 'while', 'but']);
const MAX_PERSON = 3;
const MAX_PERSONS = 8;
const MAX_DAYS = 5;

/** Returns whether words are nothing but when something is: `until monday`, `next week`, `for two days`. */
const isTime = (words: readonly string[], today: string): boolean => {
  const rest = words.filter((word) => !['for', 'from', 'until', 'till', 'all', 'since', 'again'].includes(word));
  if (rest.length === 0) return true;
  const said = rest.join(' ');
  if (/^(this|next|the whole|the rest of the|the) (week|month|morning|afternoon)$|^now$|^a while$|^some time$/.test(said))
    return true;
  return rest.length <= MAX_DAYS && (readDate(rest, today) !== undefined || /^(\w+) (days?|weeks?|months?)$/.test(said));
};

/** Returns the members that words name: `Bo and Mia`; undefined for other words. */
function readPersons(reading: Reading, words: readonly string[]): Assignee[] | undefined {
  const border = words.findIndex((word) => word === 'and' || word === 'or' || word === '&');
  const head = border < 0 ? words : words.slice(0, border);
  const read = head.length === 0 || head.length > MAX_PERSON ? undefined : readPerson(reading, head);
  if (!read?.isKnown) return undefined;
  const others = border < 0 ? [] : readPersons(reading, words.slice(border + 1));
  return others && [read.to, ...others];
}

/** Phrases of who is there. */
const PRESENT = new Set(['back', 'free']);

/** `Bo is ill`, `Bo and Uma are on vacation next week`, `he left`, `Mia takes over` */
function readAbsence(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const words = wordsOf(tokens);
  const from = GIVING_REASONS.has(words[0] ?? '') ? 1 : 0;
  for (let end = Math.min(words.length - 1, from + MAX_PERSONS); end > from; end -= 1) {
    const persons = readPersons(reading, words.slice(from, end));
    if (!persons) continue;
    if (/^(takes?|will take|took) over$|^(steps?|will step) in$/.test(words.slice(end).join(' ')))
      return { does: 'aside', target: null };
    let at = end;
    while (BEING.has(words[at] ?? '') || LEAVING.has(words[at] ?? '')) at += 1;
    const isLeaving = words.slice(end, at).some((word) => LEAVING.has(word));
    const phrase = AWAY.find((each) => each.every((word, i) => words[at + i] === word));
    if (at === end || (!phrase && !isLeaving)) continue;
    if (!isTime(words.slice(at + (phrase?.length ?? 0)), reading.today)) continue;
    return { does: 'aside', target: null, ...(!PRESENT.has(phrase?.join(' ') ?? '') && { absent: persons }) };
  }
  return undefined;
}

/** A clause without the absence that gives its reason: `… while he is away`, `… because Bo is ill`. */
export function withoutAbsence(reading: Reading, tokens: readonly Token[]): readonly Token[] {
  const at = tokens.findLastIndex((token, i) => i > 1 && GIVING_REASONS.has(getWord(token)));
  return at > 1 && readAbsence(reading, tokens.slice(at)) ? tokens.slice(0, at) : tokens;
}

/** Facts that only deny a state: which one holds instead, they do not say. */
const DENYING: readonly Pattern[] = ['T is|are|was|were|has|have|had not been? S after? all?', 'T is|are no longer S'].map(
  pattern,
);

const MANAGE =
  'be? going? able? to? make|finish|do|complete|manage|meet|deliver|get|handle T done|finished|ready? by|before|until|on|in? D';
/** Facts that say why something else is wanted. */
const REASONS: readonly Pattern[] = [
  'i|we want|need T off my|our plate|desk|list|table',
  'T look|looks|is|are|seems|seem good|fine|great|perfect|alright|ok|okay to? me|us?',
  'T needs|need|requires|require another|one round|look|pass|go|try',
  'T needs|need|requires|require more work|time|thought',
  ...['P cannot', 'P can|will|would|could|does|is not'].map((who) => `${who} ${MANAGE}`),
  ...['T cannot', 'T will|would|is not'].map(
    (what) => `${what} be? going? to? be? done|finished|ready|late|live by|before|until|on|in? D`,
  ),
  'nobody|no-one is|was? working|works|working on|at T',
  'nobody has|took|owns|does|wants T',
  'T is|are slipping|sliding|stalled|falling|running|getting|lagging behind|late?',
  'T is|are too|very|so much|big|hard|late|important|complicated? for|now P',
].map(pattern);

/** Reads a sentence that changes nothing; undefined for none. */
export function readAside(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const absence = readAbsence(reading, tokens);
  if (absence) return absence;
  const matcher = new Matcher(reading, tokens);
  for (const each of [...DENYING, ...REASONS]) {
    const target = matcher.match(each, 'all')?.T;
    if (target?.kind === 'named' || target?.kind === 'it') return { does: 'aside', target };
  }
  return undefined;
}

const MAX_TOPIC = 8;

/**
 * Reads what a line is about: `Budget: high priority, due Friday`.
 * @returns the clause, and the number of tokens with the colon
 */
export function readTopic(reading: Reading, tokens: readonly Token[]): { clause: BareClause; length: number } | undefined {
  const colon = tokens.slice(0, MAX_TOPIC).findIndex(({ kind }) => kind === 'colon');
  const head = tokens.slice(0, Math.max(0, colon));
  const behind = tokens[colon + 1];
  if (head.length === 0 || behind === undefined || behind.kind === 'newline' || head.some(isSoft)) return undefined;
  if (VERBS.has(getWord(head[0])) && head[0]?.kind === 'word') return undefined;
  const read = readTarget(reading, head);
  if (!read?.isKnown || read.target.kind !== 'named') return undefined;
  return { clause: { does: 'aside', target: read.target }, length: colon + 1 };
}

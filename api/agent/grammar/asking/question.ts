import { readActivity } from './activity.js';
import { readAhead, readTrack } from './ahead.js';
import { readCycleQuestion, readForecast } from './cycles.js';
import { readFixed } from './fixed.js';
import { readChoosing, readLoad } from './load.js';
import type { BareClause, Target, TaskQuestion } from '../clauses.js';
import { openOnly, readFilter, withWords } from '../filter.js';
import { readSet } from '../sets/any-of.js';
import type { TaskFilter } from '../terms.js';
import { type Pattern, pattern, Matcher } from '../pattern.js';
import { readPerson } from '../referents.js';
import { type Reading, wordsOf, wordsOfChoice } from '../reading.js';
import { readTarget } from '../target.js';
import type { Token } from '../tokens.js';
import { ASKING, getWord, PLURALS } from '../words.js';

const patterns = (...texts: string[]): Pattern[] => texts.map(pattern);

/** A task or a project in short. */
const IN_SHORT = patterns(
  'summarise|summarize|recap|outline T',
  'recap|summary of|on|for T',
  'the? status|state|progress|overview of|on|for|with T',
  'give|send|show|write me|us? a|an|the? quick|short|brief? status|progress|overview|summary|recap|update|report report|update? of|on|for|about T',
);

const BEFORE = patterns(
  'is? there? anything|something is? blocking|holding|delaying up? T up?',
  'what|which|who tasks|task|items? is|are blocking|holding|stopping|delaying up? T up?',
  'what|which|who tasks|task|items? blocks|block|stops|holds|delays up? T up?',
  'what is|are T waiting|blocked|stuck|held for|on|by|up? on|by?',
  'what does|do T depend|wait|need on|for|upon?',
  'why is|are T blocked|stuck|waiting|late|overdue|delayed',
  'what must|has|needs to? be? done|finished|happen|closed before T',
);
const BEHIND = patterns(
  'what|which|who tasks|task|items? depends|depend on|upon T',
  'what does|do T block',
  'what|which|who tasks|task|items? is|are blocked|waiting|held by|for|on|up? by|on? T',
  'what is T blocking',
);
const ABOUT = patterns(
  'when is|was|will|are|should|must T due|done|finished|scheduled|planned|ready|be? due|done|finished|ready?',
  'when does T end|start|finish|fall due|end?',
  'when do|does|must|should|will|can i|we|they have|need|want? to? finish|complete|close|deliver|do|start|ship|have T done|finished?',
  'what|which is|are|was the? status|state|priority|due|deadline|progress|assignee|owner|date|estimate date? of|for|on T',
  'what|which is|are|was the? F of|for|on T',
  "what|which is|are|was T 's F",
  "what|which is|are|was T 's status|state|priority|due|deadline|progress|assignee|owner|date date?",
  'how is|are|far|urgent|important is|are|with? T going|doing|coming|progressing|looking|along|on? along|on?',
  'how far|urgent|important along? is|are T along?',
  'how is the? progress|status on|of|for|with T',
  'how are we doing|getting|progressing on|with|along? with|on? T',
  'is|are|was|has|have T been? canceled|cancelled|abandoned|dropped|duplicate',
  'is|are|was T a|the duplicate of? anything|something?',
  'is|are|was|has|have T done|finished|complete|completed|closed|overdue|late|blocked|open|started|urgent|assigned|ready|in|due|already? progress|review|been|on|to? started|finished|done|anyone|track?',
  'is|are|was|were|has|have T been|being? S',
  'is|are T still S',
  'did|do|does|has|have|had|is|are|was|will P finish|finished|complete|completed|close|closed|fix|fixed|resolve|resolved|start|started|begin|begun|do|done|doing|deliver|delivered|review|reviewed|work|working|worked|take|taken|taking|handle|handled|handling|get|touch|touched|update|updated|manage on|with|at|over|to|care? of|finish|complete|close? T done|finished|started|ready?',
  'should|shall P take|do|handle|own|get|finish|work|have|close on|over|care? of? T',
  'did|has|have anyone|anybody|someone|we|they|you been? finish|finished|complete|completed|close|closed|fix|fixed|start|started|do|done|doing|look|looked|looking|work|worked|working|review|reviewed on|at|with|after|into? T',
  'where are|do we stand|with|on? with|on? T',
  'what about T',
  'what is the? latest|news|new|up|happening|going on|with|about? on|with|about? T',
  'tell me? more? about T',
  'show|describe me? T',
);
const WHO = patterns(
  'who is|are|was working|responsible|assigned|handling|doing|in|taking|on|accountable on|for|to|with|charge|care? of|for? T',
  'who works|work|owns|own|has|does|handles|took|takes|got|looks|cares|did on|after|for|care? of? T',
  'who is T assigned to',
  'whose is|task? is? T',
  'who is the? owner|assignee of|for|on T',
  "what|who is T 's owner|assignee",
  'who should|will|can do|finish|handle|take T',
  'who is|has got|has? T',
);

/** Words of a question that say nothing of the tasks. */
const NOISE = new Set(
  (
    'what which who whose show list find tell display give see know me us how many much number count there do does did should could can will would ' +
    "work working works worked on at plate to have has got get need needs up about for from right doing so far more next first most am tasks_ of ' look " +
    "see left happening going coming next_up desk hands currently names give_ check nearest soonest earliest closest deadline deadlines if us's planned supposed total when"
  ).split(' '),
);
const ASKED_IS = new Set(['is', 'are', 'does', 'do', 'did', 'has', 'have']);

const join = (tokens: readonly Token[]): string =>
  wordsOf(tokens.filter(({ kind }) => kind === 'word' || kind === 'item')).join(' ');

/** How much one member has to do: their open tasks say it. */
const BUSY = patterns(
  'is|are P overloaded|overworked|swamped|busy|free|available',
  'is|are P too|very|really busy',
  'how busy|loaded|full is|are P',
  'does|do P have too|enough much|many? work|to|time|tasks|capacity do?',
);

const first = (matcher: Matcher, list: readonly Pattern[]) => {
  for (const each of list) {
    const slots = matcher.match(each, 'all') ?? undefined;
    if (slots?.T) return slots.T;
  }
  return undefined;
};
const firstUnknown = (matcher: Matcher, list: readonly Pattern[]) => {
  for (const each of list) {
    const slots = matcher.match(each, 'none');
    if (slots?.T) return slots.T;
  }
  return undefined;
};

/** Several tasks that are not linked: a question lists them. */
const areUnlinked = (target: Target): boolean =>
  target.kind === 'named' && target.items.length > 1 && target.items.every(({ isLinked }) => isLinked === false);

/** Questions about one item, and those about who works on something. */
function readAbout(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const matcher = new Matcher(reading, tokens);
  const before = first(matcher, BEFORE);
  if (before) return { does: 'blocking', target: before, end: 'before' };
  const behind = first(matcher, BEHIND);
  if (behind) return { does: 'blocking', target: behind, end: 'behind' };
  const about = first(matcher, ABOUT);
  if (about && about.kind !== 'all' && !areUnlinked(about)) return { does: 'about', target: about };
  const who = firstUnknown(matcher, WHO);
  if (
    who?.kind === 'it' ||
    (who?.kind === 'named' && who.items.length === 1 && who.items[0]?.isLinked === false) ||
    (who?.kind === 'named' && who.items.length === 1 && who.items[0]?.title.toLowerCase() === who.written.toLowerCase())
  )
    return { does: 'about', target: who };
  if (who?.kind === 'all' && !who.except) return { does: 'ask', question: { show: 'list', filter: openOnly(who.filter) } };
  const asked = who ?? firstUnknown(matcher, ABOUT);
  if (!asked || (asked.kind !== 'named' && asked.kind !== 'unknown')) return undefined;
  const { rest, filter } = readFilter(
    asked.written
      .toLowerCase()
      .split(/[^\p{L}\p{N}'_-]+/u)
      .filter((word) => word !== ''),
    reading,
  );
  const telling = rest.filter((word) => word !== 'ready');
  if (asked.kind === 'unknown') for (const said of [telling, ...asked.names]) reading.beyond?.want(said);
  const named = Object.keys(filter).length === 0 && telling.length > 0 ? withWords({}, telling) : undefined;
  return named && { does: 'ask', question: { show: 'list', filter: who ? openOnly(named) : named } };
}

const MAX_QUESTION = 24;

/** Ends of a question that say why it is asked, and nothing of the tasks. */
const CONCERN =
  / (?:that )?(?:i|we) (?:should|must|need to|have to|ought to) (?:worry|know|care|be worried|be aware|look|pay attention)(?: about| of| at| to| into)?$/;

const DUTY = new Set(['have', 'has', 'need', 'needs', 'got']);
/** `have to do` is no state, as `to do` is. */
const withoutDuty = (words: readonly string[]): string[] =>
  words.filter((word, at) => {
    const start = word === 'to' ? at : word === 'do' ? at - 1 : -1;
    return !(start > 0 && words[start] === 'to' && words[start + 1] === 'do' && DUTY.has(words[start - 1] ?? ''));
  });

/** Reads `which tasks are …`, `how many …`, `what does PERSON have …`. */
function readTasks(reading: Reading, tokens: readonly Token[]): TaskQuestion | undefined {
  const all = wordsOfChoice(tokens);
  const concern = CONCERN.exec(all.join(' '))?.[0];
  const words = concern === undefined ? all : all.slice(0, -concern.trim().split(' ').length);
  // What would be is no fact of a task.
  if (words.length > MAX_QUESTION || words.includes('if')) return undefined;
  const [lead = '', second = ''] = words;
  const isCount = (lead === 'how' && second === 'many') || lead === 'count' || words.slice(0, 4).join(' ').includes('number of');
  const start = words.findIndex((word) => !ASKING.has(word) || ASKED_IS.has(word));
  const asked = withoutDuty(words.slice(lead === 'how' ? 2 : Math.max(0, start))).filter((word) => word !== '');
  const read = readSet(asked, reading);
  const isElse = read.rest.includes('else');
  // Whose tasks `their` means, `who` asks.
  const isNoise = (word: string): boolean =>
    NOISE.has(word) || word === 'else' || (lead === 'who' && ['their', 'on'].includes(word));
  const rest = read.rest.filter((word) => !isNoise(word));
  const hasFilter = Object.keys(read.filter).length > 0;
  if (!hasFilter && !words.some((word) => PLURALS.has(word)) && !isCount) return undefined;
  if (!hasFilter && rest.length > 0 && !words.some((word) => PLURALS.has(word))) return undefined;
  const filter: TaskFilter | undefined = withWords(read.filter, rest);
  if (!filter) return undefined;
  return { show: isCount ? 'count' : 'list', filter: openOnly(filter), ...(isElse && { isElse }) };
}

/** Words that begin a question about one task, if only one is named. */
const ABOUT_ONE = new Set(['is', 'was', 'has', 'did', 'does', 'who', 'when', 'why', 'had', 'were', 'are', 'have']);

/** Reads a question that names one linked task beside words that say nothing known: its state is a better answer than an empty list. */
function readOneTask(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const words = wordsOf(tokens);
  if (!ABOUT_ONE.has(words[0] ?? '') || words.length > MAX_QUESTION || words.includes('if')) return undefined;
  if (words.some((word) => PLURALS.has(word))) return undefined;
  const rest = readFilter(words.slice(1), reading).rest.filter((word) => !NOISE.has(word));
  const named = rest.flatMap((word) => (reading.index.find([word]).length > 0 ? [word] : []));
  const found = named.length > 0 ? reading.index.find(named) : [];
  const [item, ...others] = found;
  if (item?.type !== 'task' || others.length > 0) return undefined;
  return { does: 'about', target: { kind: 'named', items: [item], written: named.join(' ') } };
}

/** Words that begin a list on demand, besides the asking ones. */
const DEMANDING = new Set('show list find display tell count any anything give'.split(' '));
/** `tell me` asks, `tell Bo` does not. */
const ORDERING = /^tell (?!me\b|us\b|about\b|more\b)/;

/** Reads a question; undefined for a clause that is none, or none that can be answered. */
export function readQuestion(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const fixed = readFixed(join(tokens));
  if (fixed) return fixed;
  const load = readChoosing(reading, tokens) ?? readLoad(reading, join(tokens));
  return (
    load ??
    readAhead(reading, tokens) ??
    readTrack(reading, tokens, join(tokens)) ??
    readCycleQuestion(reading, tokens, () => readOther(reading, tokens)) ??
    readForecast(reading, tokens, join(tokens)) ??
    readOther(reading, tokens)
  );
}

/** Reads a question about items, and one about what was done. */
function readOther(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const activity = readActivity(reading, tokens);
  if (activity) return activity;
  const busy = BUSY.map((each) => new Matcher(reading, tokens).match(each, 'all')?.P).find((each) => each !== undefined);
  if (busy && busy.kind !== 'nobody') return { does: 'ask', question: { show: 'list', filter: openOnly({ assignee: busy }) } };
  const inShort = first(new Matcher(reading, tokens), IN_SHORT);
  if (inShort?.kind === 'named') return { does: 'about', target: inShort };
  const [lead, second] = [getWord(tokens[0]), getWord(tokens[1])];
  if (ORDERING.test(`${lead} ${second}`)) return undefined;
  if (!ASKING.has(lead) && !DEMANDING.has(lead) && !['why', 'am', 'was', 'were', 'had', 'should', 'shall'].includes(lead))
    return undefined;
  if (
    lead === 'give' &&
    !(
      second === 'me' &&
      ['a', 'an', 'the'].includes(getWord(tokens[2])) &&
      /^(list|overview|count|summary)$/.test(getWord(tokens[3]))
    )
  )
    return undefined;
  // `do the budget by Friday` is no question.
  if (
    ['do', 'have'].includes(lead) &&
    !['i', 'we', 'you', 'they', 'any'].includes(second) &&
    !readPerson(reading, [second])?.isKnown
  )
    return undefined;
  const about = readAbout(reading, tokens);
  if (about) return about;
  const one = readOneTask(reading, tokens);
  if (one) return one;
  const question = readTasks(reading, tokens);
  return question && { does: 'ask', question };
}

/** Reads words that are nothing but a filter or an item: `overdue tasks?`, `the budget?`. */
export function readBareQuestion(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const words = wordsOf(tokens);
  if (words.length === 0 || words.length > 10) return undefined;
  const { filter, rest, hasNoun } = readSet(words, reading);
  // `due Friday` may be an order, `due after next week` is none.
  const isOpenRange = filter.due !== undefined && (filter.due.from === undefined || filter.due.to === undefined);
  if (rest.length === 0 && Object.keys(filter).length > 0 && (hasNoun || words.length === 1 || isOpenRange))
    return { does: 'ask', question: { show: 'list', filter: openOnly(filter) } };
  const target = readTarget(reading, tokens);
  return target?.isKnown && target.target.kind === 'named' && target.target.items.length === 1
    ? { does: 'about', target: target.target }
    : undefined;
}

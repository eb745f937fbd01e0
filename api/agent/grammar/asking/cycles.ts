import type { BareClause } from '../clauses.js';
import { Matcher, type Pattern, pattern } from '../pattern.js';
import type { Reading } from '../reading.js';
import type { Token } from '../tokens.js';

/** Questions about a cycle as a whole. */

const STILL = 'still|left|open|missing|unfinished|outstanding|undone|remaining? to? be? do|done|finish|finished?';

const OF_CYCLE: readonly Pattern[] = [
  'how is|are|was|did C going|doing|looking|progressing|coming|go|do|look? along|on|today|now|so? far?',
  'how far|good|bad along? is|are C along?',
  'how far|long are we in|into|with|on? C',
  'how are we doing|getting|looking|progressing on|with|in|along? with|on|in? C',
  'what|how is the? status|state|progress|health|outlook of|on|for|in|with C',
  'the? status|state|progress|summary|overview|recap of|on|for C',
  'summarize|summarise|recap|review|describe|show C',
  'give|show|tell me|us a|an|the? short|quick|brief? status|summary|overview|recap|update of|on|for|about C',
  'is|are|was C on|in|done|finished|complete|late|over|overdue|behind|at? track|time|schedule|trouble|danger|risk?',
  'are we on|in|behind|ahead|late? track|time|schedule|of? schedule? with|for|in|on C',
  'will we make|finish|reach|complete|manage C in|on? time?',
  'when is|does|do|will|did C be? end|ends|over|done|finished|finish|start|begin|due|ready?',
  'how many days|time|weeks is|are left|remaining? in|for|of|until C',
  'how much|many time|days|work|tasks? is|are|do|remains|remain we? have? left|open|remaining|undone? in|for|of|until|to C ends|end?',
  `what else? is|are|remains|remain|do|must|has we|i? have|need|must? ${STILL} in|for|of|before|until|from|to C ends|end|is? over?`,
  `which|what tasks|items is|are|remain ${STILL} in|for|of|before|until|from C ends|end|is? over?`,
  'what|which|who tasks|items? is|are|was|were planned|scheduled|part? in|of|for C',
  'show|list|tell me|us? what|all|the|everything? tasks|is|items? is|are? left|open? in|of|for C',
  'what about C',
].map(pattern);

const FORECAST: readonly Pattern[] = [
  'when will|can|could|do|are|should i|we|you|they|the team? be|get|are|finish|ship|launch|release|complete|deliver? done|finished|ready|through|complete? with|on? T',
  'when will|is|can|does T be|get|finish|ship|launch|go|released? done|finished|ready|complete|completed|shipped|launched|delivered|live|out?',
  'how long will|does|do T take|last|need still?',
  'how long will|do we need|take|be for|with|on|to? finish? T',
  'how long until|till|before T is|are? done|finished|ready|complete|ships|launches?',
  'what is the? forecast|estimate|eta|projection|prognosis of|for|on T',
  'will|are|can i|we going|able? to? be|make|finish|ship|launch|complete|done|finished|deliver? done|finished|ready|through? with? T in|on? time?',
].map(pattern);
const FORECAST_OF_CYCLE = [
  'when will|can|could i|we|you|they|the team? be|get|finish|complete done|finished|ready|through|complete? with? C',
  'how long will|do we need|take|be for|with|on|to? finish? C',
].map(pattern);
const FORECAST_OF_ALL = new Set([
  'when will we be done',
  'when will we be finished',
  'when are we done',
  'when are we finished',
  'when do we finish',
  'when will this be done',
  'when will everything be done',
  'how long will it take',
  'how long will this take',
  'will we be done in time',
  'will we finish in time',
]);

/** Reads a question about a cycle. `otherwise`: reads it as one about tasks, for the words may name one. */
export function readCycleQuestion(
  reading: Reading,
  tokens: readonly Token[],
  otherwise: () => BareClause | undefined,
): BareClause | undefined {
  const matcher = new Matcher(reading, tokens);
  for (const each of [...OF_CYCLE, ...FORECAST_OF_CYCLE]) {
    const cycle = matcher.match(each, 'all')?.C;
    if (!cycle) continue;
    const rest = otherwise();
    const isOther = rest?.does === 'about' || (rest?.does === 'ask' && !rest.question.filter.cycle);
    return { does: 'cycle', cycle, ...(isOther && { otherwise: rest }) };
  }
  return undefined;
}

/** Reads a question for the day on which a project will be done, which no task tells. */
export function readForecast(reading: Reading, tokens: readonly Token[], asked: string): BareClause | undefined {
  if (FORECAST_OF_ALL.has(asked)) return { does: 'forecast', target: null };
  const matcher = new Matcher(reading, tokens);
  for (const each of FORECAST) {
    const target = matcher.match(each, 'all')?.T;
    if (target?.kind !== 'named') continue;
    const projects = target.items.filter(({ type }) => type === 'project');
    if (projects.length > 0) return { does: 'forecast', target: { ...target, items: projects } };
  }
  return undefined;
}

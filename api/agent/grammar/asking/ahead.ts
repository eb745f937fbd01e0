import type { BareClause, TaskQuestion } from '../clauses.js';
import { openOnly } from '../filter.js';
import { Matcher, type Pattern, pattern } from '../pattern.js';
import type { Reading } from '../reading.js';
import type { Token } from '../tokens.js';

/** Questions of what lies ahead: what a member shall do next, and whether something is on track. No answer is a forecast. */

const DOING = 'do|work|start|begin|focus|tackle|pick|take|concentrate on|with|up?';
const NEXT: readonly (readonly [show: TaskQuestion['show'], patterns: readonly Pattern[]])[] = [
  [
    'day',
    [`what should|shall|can|must|will P ${DOING} today`, 'what is on|up for P today', 'plan the? day for|of P'].map(pattern),
  ],
  ['week', [`what should|shall|can|must|will P ${DOING} this week`, 'plan the? week for|of P'].map(pattern)],
  [
    'next',
    [
      `what should|shall|can|must|does|will P ${DOING} next|first|now?`,
      'what is next|coming up? next? for|on P',
      'what comes next for P',
      "what is|are P 's next task|tasks|thing|priority|step|up?",
    ].map(pattern),
  ],
];

const ON = 'on track|schedule|course|time|target|plan';
const TRACK: readonly Pattern[] = [
  `are|is we|everything|things|all still? ${ON} for|with|on|in|to? finish|ship|launch|release|deliver|make|complete? T`,
  `is|are T still? ${ON}`,
  'are|is we|everything going? to? make|hit|meet|reach T in|on? time?',
  'will we make|hit|meet|reach T in|on? time?',
  'how likely are|is we to? make|finish? T',
].map(pattern);
const TRACK_OF_ALL =
  /^(?:are|is) (?:we|things|everything|the team) (?:all )?(?:still )?on (?:track|schedule|course|time|target|plan)$|^(?:will|can) we (?:make it|be on time|be in time|finish on time)(?: in time| on time)?$|^are we (?:going to )?(?:make it|be late|going to be late)$|^how (?:on track|far along|far) are we$/;

/** Reads a question of what a person shall do next. What the asker shall do is asked in the same words. */
export function readAhead(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const matcher = new Matcher(reading, tokens);
  for (const [show, list] of NEXT)
    for (const each of list) {
      const assignee = matcher.match(each, 'all')?.P;
      if (assignee && assignee.kind !== 'nobody') return { does: 'ask', question: { show, filter: openOnly({ assignee }) } };
    }
  return undefined;
}

/** Reads a question whether a project, a task, or all, is on track. */
export function readTrack(reading: Reading, tokens: readonly Token[], asked: string): BareClause | undefined {
  if (TRACK_OF_ALL.test(asked)) return { does: 'forecast', target: null, isOfAll: true };
  const matcher = new Matcher(reading, tokens);
  for (const each of TRACK) {
    const target = matcher.match(each, 'all')?.T;
    if (target?.kind === 'it') return { does: 'about', target };
    if (target?.kind !== 'named') continue;
    const projects = target.items.filter(({ type }) => type === 'project');
    return projects.length > 0 ? { does: 'forecast', target: { ...target, items: projects } } : { does: 'about', target };
  }
  return undefined;
}

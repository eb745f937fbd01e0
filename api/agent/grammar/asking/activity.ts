import type { ActivityKind, BareClause } from '../clauses.js';
import { Matcher, type Pattern, pattern, type Slots } from '../pattern.js';
import { type Reading, wordsOf } from '../reading.js';
import type { Token } from '../tokens.js';

/** Questions about what was done: by whom, to what, and when. */

const OPTIONAL = /\[([^\]]+)\] ?/;

/** Patterns of a text with parts that may be absent: `what happened [W] [in T]`. Those with most parts come first. */
function variants(text: string): string[] {
  if (!OPTIONAL.test(text)) return [text.trim()];
  const all = [...variants(text.replace(OPTIONAL, '$1 ')), ...variants(text.replace(OPTIONAL, ''))];
  return [...new Set(all)].filter((each) => each.split(' ').filter((word) => word === 'W').length < 2);
}
const patterns = (...texts: string[]): Pattern[] => texts.flatMap(variants).map(pattern);

const ALL_OF_US = 'we|everyone|people|they';
const TO = 'in|to|with|on|at|for|within|inside';
const NEWS = 'changes|activity|activities|history|updates|news';

const OF_PERSON = patterns(
  'what did P do|change|update|edit|touch|move [W]',
  'what|which tasks|items|things did P change|update|edit|touch [W]',
  'what|which tasks|items|things has|have P changed|updated|edited|touched [W]',
  'what did P work on [W]',
  'what did P get up to [W]',
  'what has|have|had P done|changed|updated|edited|moved [W]',
  'has|have|had P done|changed|updated|touched|moved anything|something|much [W]',
  'did P do|change|update|touch|move|get anything|something|much done? [W]',
  'what has|have P been doing|changing [W]',
  'what has|have P been up to [W]',
  'what has|have P been working on [W]',
  'what was|were P doing W',
  'what was|were P working on W',
  'what was|were P up to W',
  'tell|show me? what P did|changed [W]',
  'tell|show me? what P has|have done|changed [W]',
  "show|list me? P 's NEWS [W]".replace('NEWS', NEWS),
  `show|list me? all? the? ${NEWS} of|by P [W]`,
);
const OF_MACHINE = (machine: string): Pattern[] => {
  const does = `the|an|any|my|our|some? ${machine}`;
  return patterns(
    `what|which did ${does} do|change|update|touch|edit [W]`,
    `what|which tasks|task|items|things did ${does} do|change|update|touch|edit [W]`,
    `what|which has|have|had ${does} done|changed|updated|touched|edited [W]`,
    `what|which tasks|task|items|things has|have|had ${does} done|changed|updated|touched|edited [W]`,
    `what|which tasks|task|items|things was|were changed|updated|touched|edited by ${does} [W]`,
    `what|which tasks|task|items|things has|have been changed|updated|touched|edited by ${does} [W]`,
    `what was|were changed|updated|touched|edited|done by ${does} [W]`,
    `what has|have been changed|updated|touched|edited|done by ${does} [W]`,
    `did ${does} do|change|update|touch anything|something|tasks|it? [W]`,
    `has|have ${does} done|changed|updated|touched anything|something|tasks [W]`,
    `tell|show|list me|us? what|which tasks? ${does} did|changed|updated|touched [W]`,
    `show|list me? all? the? ${NEWS} of|by|from ${does} [W]`,
  );
};
const BY = [
  ['automation', OF_MACHINE('automation|automations')],
  ['agent', OF_MACHINE('agent|assistant')],
] as const;
const RECAP = 'summarise|summarize|recap|review|outline';
const OF_ALL = patterns(
  `${RECAP} what happened|changed [W] [${TO} T] [W]`,
  `${RECAP} what has|have happened|changed [W] [${TO} T] [W]`,
  `${RECAP} the? activity|changes|news [W] [in|of|on|for T] [W]`,
  `${RECAP} W`,
  `${RECAP} T W`,
  'catch me up [on|with T] [W]',
  'give|send|write me|us? a? quick|short|brief? recap|update|summary|digest of|for|on W',
  'give|send|write me|us? a? quick|short|brief? recap|update|summary|digest of|for|on T W',
  `tell|show me|us? what happened|changed [W] [${TO} T] [W]`,
  `what happened|changed [W] [${TO} T] [W]`,
  `what has|have happened|changed [W] [${TO} T] [W]`,
  'what has|have been done|changed W',
  `what has|have been done|changed [W] in T [W]`,
  `what did ${ALL_OF_US} do|change [W] [in|on T] [W]`,
  `what did the team do|change [W] [in|on T] [W]`,
  `what have ${ALL_OF_US} done|changed [W] [in|on T] [W]`,
  'what have|did i|we miss|missed [W] [in|on T] [W]',
  'what is new W',
  'what is new [W] in T [W]',
  `has|did anything new? changed|change|happened|happen [W] [${TO} T] [W]`,
  `anything|something new? changed|happened [W] [${TO} T] [W]`,
  'anything new W',
  'anything new [W] in T [W]',
  `any ${NEWS} [W] [in|to|on|of|for|from T] [W]`,
  `show|list me? all? the? ${NEWS} [W] [in|to|on|of|for|from T] [W]`,
  'what is|are the? NEWS [in|to|on|of|for|from T] W'.replace('NEWS', NEWS),
  'who did|changed|finished|completed|closed|moved what [W] [in|on T] [W]',
  'what|which tasks|items|things changed W',
  'what|which tasks|items|things changed [W] in T [W]',
  'what|which tasks|items|things was|were|have|has been? changed|updated|touched|edited W',
);
/** Questions for the newest change of a kind to one item. */
const OF_KIND: readonly (readonly [what: ActivityKind, asked: readonly Pattern[]])[] = [
  ['closed', patterns('who has? closed|finished|completed|resolved T', 'when was|were T closed|finished|completed|resolved')],
  ['reopened', patterns('who has? reopened T', 'when was|were T reopened')],
  ['created', patterns('who has? created|added T', 'when was|were T created|added')],
  [
    'assigned',
    patterns('who has? assigned|reassigned T', 'who has? assigned|reassigned T to P', 'when was|were T assigned|reassigned'),
  ],
  [
    'moved',
    patterns(
      'why is|are|was|were T still|already|now? in|at? S',
      'why is|are|was|were T still|already|now? in|at? K',
      'who has? moved T [to|into|in S]',
      'who has? moved T to|into|in K',
      'since when is|are T in|at? S',
      'since when is|are T in|at? K',
    ),
  ],
  [
    'changed',
    patterns(
      'who has? last? changed|updated|edited|touched|modified|renamed T last?',
      'when was|were T last? changed|updated|edited|touched|modified last?',
    ),
  ],
];

const find = (matcher: Matcher, list: readonly Pattern[], certainty: 'all' | 'none') => {
  for (const each of list) {
    const slots = matcher.match(each, certainty);
    if (slots) return slots;
  }
  return undefined;
};

const asClause = ({ P, T, W }: Partial<Slots>, what?: ActivityKind): BareClause => ({
  does: 'activity',
  asked: { ...(P && !what && { who: P }), ...(T && { of: T }), ...(W && { days: W }), ...(what && { what }) },
});

/** A time of the day at the end of a question. */
const CLOCK =
  / (?:since|after|before|until|at) (?:noon|midday|lunch|lunchtime|midnight|\d{1,2}(?: ?: ?\d\d)?(?: ?(?:am|pm|o'clock))?)$/;
const BY_DAYS =
  'I tell what happened by days, with the time of each change, and not from an hour on. Write “today” instead of the time.';

/** Reads a question about what was done since an hour, which is answered by days only. */
function readByClock(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const clock = CLOCK.exec(wordsOf(tokens).join(' '))?.[0].trim().split(' ').length ?? 0;
  const rest = clock > 0 ? tokens.slice(0, -clock) : [];
  return rest.length > 0 && readActivity(reading, rest) ? { does: 'doubt', text: BY_DAYS } : undefined;
}

/** Reads a question about what was done. One with an unknown name is read too, so that the answer says so. */
export function readActivity(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const byClock = readByClock(reading, tokens);
  if (byClock) return byClock;
  const matcher = new Matcher(reading, tokens);
  for (const [by, asked] of BY) {
    const slots = find(matcher, asked, 'all');
    if (slots) return { does: 'activity', asked: { by, ...(slots.W && { days: slots.W }) } };
  }
  for (const certainty of ['all', 'none'] as const) {
    const found = find(matcher, OF_PERSON, certainty) ?? find(matcher, OF_ALL, certainty);
    if (found && !(found.P?.kind === 'nobody')) return asClause(found);
    for (const [what, asked] of OF_KIND) {
      const slots = find(matcher, asked, certainty);
      if (slots?.T && slots.T.kind !== 'all') return asClause(slots, what);
    }
  }
  return undefined;
}

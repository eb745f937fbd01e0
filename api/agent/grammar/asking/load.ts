import { readRange } from '../../../platform/written-ranges.js';
import type { BareClause } from '../clauses.js';
import { openOnly, readFilter, withWords } from '../filter.js';
import { Matcher, pattern } from '../pattern.js';
import type { Reading } from '../reading.js';
import type { Token } from '../tokens.js';

/** Questions about how much each member has to do. */

// Patterns of words, as the source of expressions.
const EVERYONE =
  /(?:everyone|everybody|each (?:of us|of them|person|member|one|team member|teammate|assignee|colleague)|every (?:one|person|member|team member|teammate)|the (?:team|others|people)|all (?:of us|members|people)|people|who|each)/
    .source;
const SOMEONE = /anyone|anybody|someone|somebody/.source;
const ANYONE = `(?:${SOMEONE}|who)`;
const MUCH =
  '(?:too much|too many|too little|too few|not enough|not much|a lot|lots|plenty|enough|nothing|little|the most|the least|the fewest|the smallest|the biggest|most|least|fewest)';
const LOADED = '(?:busy|busiest|overloaded|overworked|swamped|overwhelmed|loaded|underloaded|idle|free|available)';
const HAVE =
  '(?: (?:have|has|had|got|own|owns|hold|handle|working on|assigned to them|assigned|on their plates?|to do|left|open|still|each))*';

/** What is asked, with the words of which tasks: “how many OVERDUE TASKS does each person have IN HARBOR”. */
const HEADS: readonly RegExp[] = [
  `how many (.*?) ?(?:do|does|has|have|is|are) ${EVERYONE}${HAVE}(.*)`,
  `how many (.*?) (?:per|by|for each|of each) (?:person|member|assignee|owner|head|team member)(.*)`,
  `what (?:do|does|has|have|is on) ${EVERYONE}${HAVE}(.*)`,
  `who (?:has )?(finished|completed|closed|done|resolved) (?:the )?(?:most|least|fewest)(.*)`,
  `how much (?:work )?(?:do|does|has|have|is on) ${EVERYONE}${HAVE}(.*)`,
  `${ANYONE} (?:have|has|having|with)(?: got)? ${MUCH}(?: of)?(.*)`,
  `(?:does|do|has) ${ANYONE} (?:have|has|got) ${MUCH}(?: of)?(.*)`,
  `(?:is|are) ${ANYONE} (?:very |too |really |totally )?${LOADED}( .*)?`,
  `who is (?:the )?(?:most |least |too |very |really )?${LOADED}( .*)?`,
  `who has (?:got )?(?:time|capacity|room)( .*)?`,
  'who (?:does|is doing|works on|is working on|is on|handles|has) what(.*)',
  `what (?:is|are) ${EVERYONE} (?:working on|busy with)(.*)`,
  `how (?:busy|loaded|full) (?:is|are) ${EVERYONE}(.*)`,
  `how is (?:the )?work(?:load)? (?:distributed|spread|split|divided|balanced|shared)(?: out)?(?: (?:among|between|over|across) ${EVERYONE})?(.*)`,
  `(?:(?:show|give|tell|list)(?: me| us)? |what is )?(?:the |our )?(?:workload|work load|load)(?: (?:of|per|by|for) ${EVERYONE})?( .*)?`,
  '(?:(?:show|give|tell|list|count)(?: me| us)? )?(?:the |our |all )?(.*?) ?(?:tasks|work|tickets|issues) (?:per|by|for each|of each) (?:person|member|assignee|owner|head|team member)(.*)',
].map((text) => new RegExp(`^${text}$`));

/** Who has time for the work of another one. */
const WHO_CAN =
  /^who (?:can|could|might) (?:help(?: out)?|jump in|step in|(?:take|take over|pick up|cover|cover for|help with) (?:her|his|their|these|the|some|more|this|it)(?: (?:tasks|work|of|more|over))*)$/;
const IS_FREE =
  /^(?:is|are|does|do|has) (?:anyone|anybody|someone|somebody|who) (?:free|available|have time|have capacity|time|capacity)(?: (?:to|for) .+)?$|^who (?:is (?:free|available)|has (?:time|capacity)) (?:to|for) .+$/;
/** Words that say nothing of the tasks. */
const EMPTY =
  /\b(?:right now|now|at the moment|these days|currently|at present|to do|on (?:his|her|their|the) plates?|on (?:his|her|their) (?:desks?|lists?|hands)|in total|overall|of work|work|tasks|items|tickets|issues|things)\b/g;
const NOISE = new Set('in on of for at from within the project our my to do with and open tasks load'.split(' '));

/** The words of a question without a mark. */
const clean = (text: string): string[] =>
  text
    .replace(EMPTY, ' ')
    .split(' ')
    .filter((word) => word !== '');

/** Reads a question about the work of each member. A word of it that means nothing makes it another question: nothing is left out silently. */
export function readLoad(reading: Reading, asked: string): BareClause | undefined {
  const said = asked.replace(/^who (?:is|has) got /, 'who has ');
  if (WHO_CAN.test(said) || IS_FREE.test(said)) return { does: 'ask', question: { show: 'load', filter: openOnly({}) } };
  const found = HEADS.map((head) => head.exec(said)).find((each) => each !== null);
  // What would be is no fact of a task.
  if (!found || /\bif\b/.test(said)) return undefined;
  const { filter, rest } = readFilter(clean(found.slice(1).join(' ')), reading);
  const words = withWords(
    filter,
    rest.filter((word) => !NOISE.has(word)),
  );
  return words && { does: 'ask', question: { show: 'load', filter: openOnly(words) } };
}

const CHOOSING = [
  'who|whom should|could|can|shall|might|must|would i|we? take|do|handle|own|get|finish|fix|review|have|pick|work|be on|over|care|up|responsible? of|for? T',
  'who|whom should|could|can|shall|might|do i|we assign|give|hand|delegate|pass T to?',
  'to|whom|who should|could|can|shall i|we assign|give|hand|delegate T to?',
  'to whom|who should|could|can|shall i|we assign|give|hand|delegate T',
  'who is the? best|right|free|available person|one? for|to? take|do|handle? T',
  `can|could|should ${SOMEONE} take|do|handle|help over|with? T`,
  `suggest|recommend|find|pick|choose ${SOMEONE}|an|a|the assignee|owner|person? for|to? take|do? T`,
].map(pattern);

/** Reads a question for a member who might take a task: that is chosen by people, from how much each has. */
export function readChoosing(reading: Reading, tokens: readonly Token[]): BareClause | undefined {
  const matcher = new Matcher(reading, tokens);
  for (const certainty of ['all', 'none'] as const)
    for (const each of CHOOSING) {
      const of = matcher.match(each, certainty)?.T;
      if (of?.kind === 'unknown' && readRange(of.written.toLowerCase().split(' '), reading.today)) continue;
      if (of && (of.kind === 'named' || of.kind === 'it' || of.kind === 'unknown'))
        return { does: 'ask', question: { show: 'load', filter: openOnly({}), of } };
    }
  return undefined;
}

import type { BareClause, TaskQuestion } from '../clauses.js';
import { openOnly } from '../filter.js';

/** Questions that are asked in the same words. */

const HELP = new Set([
  'help',
  'what can you do',
  'what can you do for me',
  'what can i do',
  'what can i say',
  'what can i ask',
  'what can i write',
  'what can i ask you',
  'how does this work',
  'how do i use this',
  'what do you understand',
  'what do you know',
  'what are you able to do',
]);
const SUMMARY = new Set(
  (
    'summarise|summarize|summary|status|overview|status report|report|sum up|sum up the linked items|what is linked|what is linked here|' +
    'what do you see|what can you see|give me a summary|give me an overview|give me a status report|give me the status|where do we stand|' +
    'where are we|how is it going|summarise the linked items|summarize the linked items|summarise everything|sum it up|' +
    'summarise where we are|summarize where we are|summarize everything|show me the linked items|list the linked items|what are the linked items|what is the status|how do things look'
  ).split('|'),
);
/** A summary of all that is linked, in other words. */
const SUMMARY_OF =
  /^(?:(?:can i have|give me|give us|show me|i need) )?(?:(?:an?|the) )?(?:(?:short|quick|brief) )?(?:summary|overview|status report|status update) (?:of|on|for) (?:the (?:whole )?project|everything|all of it|it all)$|^(?:summari[sz]e|sum up) (?:the (?:whole )?project|it all)$/;
/** What the person shall do: `next` is an order, the others are a plan. */
const AHEAD: readonly (readonly [show: TaskQuestion['show'], phrases: RegExp])[] = [
  ['week', /^(?:(?:help me )?plan (?:my|the|this) week(?: for me)?|what does my week look like|how does my week look)$/],
  [
    'day',
    /^(?:(?:help me )?plan (?:my (?:day|morning|afternoon)|the day|today)(?: for me)?|(?:what is|show|show me) my day|my day|what is on today|what is on for today|what does my day look like|how does my day look)$/,
  ],
  [
    'next',
    /^what (?:should|shall|do|can|must) i (?:do|work on|focus on|start with|begin with|tackle|pick up)(?: (?:next|first|now))?$|^where (?:do|should|shall) i (?:start|begin)$|^what (?:is|comes) (?:my next task|next|up next|next for me)$|^what now$/,
  ],
];
const MINE = new Set(
  'what is on my plate|what is left for me|when is my next deadline|what is my next deadline|what are my next deadlines'.split(
    '|',
  ),
);

/** Questions about what keeps tasks from being done. */
const BLOCKED =
  /^(?:(?:are there|what are|show me|list|do we have|have we got) )?(?:any |the |our |all )*(?:current |open )?(?:blockers|blocks|impediments)$/;
const BLOCKED_BY =
  /^(?:(?:is|are) (?:there )?(?:anything|something|any (?:tasks|items)|(?:tasks|items))(?: that is| that are)?|(?:what|which) (?:tasks |items )?(?:is|are)) (?:blocked|stuck|waiting)(?: and)?(?: by| on| for)? (?:what|whom|why|which (?:task|tasks|one|ones))$|^what (?:blocks|is blocking) what$/;
/** Questions for what may go wrong. */
const ATTENTION =
  /^(?:good morning |good afternoon |hi |hello )?(?:is there |does )?(?:anything|something|what)(?: important| urgent| new)? (?:that )?(?:(?:do |should )?(?:i|we) (?:should |need to |must |have to )?(?:know|be aware of|worry about|look at|take care of|pay attention to)(?: about)?|(?:needs|need) (?:my |our )?attention|to (?:know|worry about|watch))$|^(?:what|which tasks|which items|is anything|anything|is something) (?:is |are )?(?:at|in) (?:risk|danger|trouble)$|^(?:any |what are (?:the |our )?|are there (?:any )?|show (?:me )?(?:the )?)?risks$|^how are we doing$|^what should we (?:do|work on|focus on|tackle)(?: next| first| now)?$|^how is (?:the team|everything)(?: doing| going)?$|^what (?:is|are) (?:going wrong|the problems|our problems|burning|on fire)$|^what (?:could|might|can) go wrong$/;
const BLOCKING_US = /^what (?:is|are) (?:blocking|stopping|holding up|holding back|slowing down) (?:us|the team|everyone)$/;
const SLIPPED =
  /^how (?:late|far behind) are we$|^what (?:has |have )?(?:slipped|slipped through|slid|is behind schedule|is behind|is running late)$/;

/** Ends of a question of now, which ask for nothing else. */
const NOW = / (today|now|right now|this week|at the moment|these days)$/;

/** Questions about what waits at Approvals, which no task tells. */
const APPROVALS =
  /\b(?:for|needs?|on) my (?:approval|decision|sign-off|okay|ok|yes)$|^(?:what|which .+|anything|something) (?:do|must|should|can) i (?:have to |need to )?(?:approve|decide|sign off)(?: on)?$|^(?:(?:show|list)(?: me)? )?(?:my |any )(?:open |pending )?approvals$|^(?:what|which \S+|anything|are there any \S+|how many \S+)(?: still| that)*(?: (?:is|are|do))?(?: still)? (?:waits?|waiting|pending) (?:for|on) (?:an? |the )?(?:approvals?|decisions?|sign-off|yes)$/;
const AT_APPROVALS =
  'What waits for a decision is at Approvals, in the navigation; lists mark the tasks that it is about. I read tasks only.';

/** Questions for what waits for the person. */
const WAITING =
  /^(?:who|what|which tasks|is (?:anyone|anybody|anything)) (?:is |are )?(?:waiting|blocked|held up|stuck|waits)(?: up)? (?:for|on|by|because of) me$/;
const WAITING_FOR_ME =
  'I do not tell who waits for one person. Ask “what is blocked and by what?”, which names each task with those that it waits for; what waits for your decision is at Approvals.';
/** Questions about pull requests, whose state the code host knows. */
const PULLS =
  /^(?:which|what|how many|show|list|are there|are|any|do we have)(?: (?:me|us|all|the|any|our|my|open|of))* (?:pull requests?|prs?|merge requests?|mrs?)(?: (?:are|is|do we have|have we|still|currently|there|open|merged|waiting|unmerged|in review|for|review|pending|stuck|left|now))*$/;
const AT_CODE_HOST =
  'I do not know which pull requests are open: that is at the code host. A task shows those that are linked with it; “what is in review?” lists tasks.';

/** Reads words that are a question as a whole. */
export function readFixed(asked: string): BareClause | undefined {
  const said = asked.replace(NOW, '').replace(/^who (?:is|has) got /, 'who has ');
  if (APPROVALS.test(said)) return { does: 'doubt', text: AT_APPROVALS };
  if (WAITING.test(said)) return { does: 'doubt', text: WAITING_FOR_ME };
  if (PULLS.test(said)) return { does: 'doubt', text: AT_CODE_HOST };
  if (HELP.has(said)) return { does: 'help' };
  if (SUMMARY.has(said) || SUMMARY_OF.test(said)) return { does: 'summary' };
  if (BLOCKED_BY.test(said)) return { does: 'ask', question: { show: 'blockers', filter: openOnly({ isBlocked: true }) } };
  if (ATTENTION.test(said)) return { does: 'ask', question: { show: 'attention', filter: openOnly({}) } };
  if (BLOCKED.test(said) || BLOCKING_US.test(said))
    return { does: 'ask', question: { show: 'list', filter: openOnly({ isBlocked: true }) } };
  if (SLIPPED.test(said)) return { does: 'ask', question: { show: 'list', filter: openOnly({ isOverdue: true }) } };
  const ahead = AHEAD.find(([, phrases]) => phrases.test(asked) || phrases.test(said))?.[0];
  if (ahead) return { does: 'ask', question: { show: ahead, filter: openOnly({ assignee: { kind: 'me' } }) } };
  if (MINE.has(said)) return { does: 'ask', question: { show: 'list', filter: openOnly({ assignee: { kind: 'me' } }) } };
  return undefined;
}

import { NO_UNDO } from '../doubts/cannot.js';
import { type Form, forms, say, state } from './form.js';

const HAS_BEEN = 'is|are|was|were|has|have|got been?';
const TAKES = 'takes|take|needs|is|should|will';
const POINTS = 'points|point|pts|pt';
/** Changes of other fields than status, person, priority and date. */
export const OTHER: readonly Form[] = [
  ...say(
    ({ T, X, Q }) => ({ does: 'rename', target: T, title: Q ?? X }),
    'rename|retitle T to|into|as X',
    'change|set|update the? title|name of|for T to|into X',
    "change|set|update T 's title|name to|into X",
    'rename T Q',
    'call T Q instead|now?',
  ),
  ...state(({ T, X }) => ({ does: 'rename', target: T, title: X }), 'T should|must be called|named|renamed to? X'),
  ...say(
    ({ T, X, Q }) => ({ does: 'describe', target: T, text: Q ?? X }),
    'set|change|update|make the? description of|for|on T to|as X',
    "set|change|update T 's description to|as X",
    'describe T as X',
    'add the? description Q to T',
  ),
  ...say(
    ({ T }) => ({ does: 'delete', target: T }),
    'delete|remove|trash|discard|bin|erase T',
    'get rid of T',
    'throw away|out T',
    'throw T away|out',
    'move|put|send T to|in|into the? trash|bin|wastebasket',
  ),
  ...state(({ T }) => ({ does: 'delete', target: T }), 'T can|should|could be deleted|removed|trashed'),
  ...say(
    ({ T, C }) => (C.isSure ? { does: 'enter_cycle', target: T, cycle: C } : undefined),
    'add|put|move|pull|include|plan|take|schedule|push|bring|assign|postpone|defer|shift T to|in|into|for|until C',
    'T is|should|belongs|goes|can|must|has|gets in|into|to|be|go|belong|planned|moved? in|into|to|for? C',
  ),
  ...say(
    ({ T, C }) => (C.isSure ? { does: 'leave_cycle', target: T, cycle: C } : undefined),
    'remove|take|drop|move|pull|kick T out|from of|from? from? C',
  ),
  ...say(
    ({ T, D }) => ({ does: 'cannot', what: 'remind', target: T, date: D }),
    'remind P about|of|on T on|at|by|in? D',
    'set|create|add|make a reminder for|about|on T on|at|by|in|for? D',
  ),
  ...say(
    ({ T }) => ({ does: 'cannot', what: 'remind', target: T }),
    'remind P about|of|on T',
    'set|create|add|make a reminder for|about|on T',
  ),
  ...say(
    ({ T }) => ({ does: 'status', target: T, status: 'done', resolution: 'canceled' }),
    'cancel|abandon|scrap|shelve T',
    'mark|set|close|flag|move T as|to|into? canceled|cancelled|abandoned',
    'call T off',
    'call off T',
  ),
  ...state(
    ({ T }) => ({ does: 'status', target: T, status: 'done', resolution: 'canceled' }),
    `T ${HAS_BEEN} canceled|cancelled|abandoned|scrapped`,
    'forget|skip about? T',
    'we will not be? do|doing T any? more|anymore?',
    'we are not going to do T any? more|anymore?',
    'we have? decided against|not doing? to? do? T',
    'i|we|they|you|customers do not need|want T any? more|anymore?',
    'T is|are not needed|wanted|necessary|required any? more|anymore?',
    'T is|are no longer needed|wanted|necessary|required',
  ),
  ...say(
    ({ T }) => ({ does: 'status', target: T, status: 'done', resolution: 'duplicate' }),
    'mark|set|close|flag T as a? duplicate|dupe',
  ),
  ...state(
    ({ T }) => ({ does: 'status', target: T, status: 'done', resolution: 'duplicate' }),
    `T ${HAS_BEEN} a? duplicate|dupe`,
  ),
  ...say(
    () => ({ does: 'undo' }),
    'undo|revert|rollback',
    'undo|revert|rollback the|my|your|that|this? last|previous? change|changes|plan|one|step|all|everything',
    'undo|revert what i|we|you did|done|changed|confirmed',
  ),
  ...say(
    ({ T }) => (T.kind === 'it' || T.kind === 'them' ? { does: 'undo' } : { does: 'doubt', text: NO_UNDO }),
    'undo|revert|rollback T',
    'take|roll T back',
    'roll back T',
  ),
  ...say(
    ({ T }) => ({ does: 'unblock', target: T, by: null }),
    'unblock T',
    'remove|clear|end the? blockers|blocker of|for|on|from T',
  ),
  ...forms(
    'all',
    ({ T, U }) => ({ does: 'unblock', target: T, by: U }),
    'unblock T from U',
    'T is|are no longer blocked|held|delayed up? by U',
    'T no longer depends|depend|waits|wait on|upon|for U',
    'T does|do not depend|wait on|upon|for U any? more|anymore|longer?',
    'T is|are not blocked by U any? more|anymore|longer?',
  ),
  ...forms(
    'all',
    ({ T, U }) => ({ does: 'unblock', target: U, by: T }),
    'T no longer blocks|block|delays|holds U up?',
    'T does|do not block U any? more|anymore|longer?',
  ),
  ...state(
    ({ T }) => ({ does: 'unblock', target: T, by: null }),
    'T is|are no longer blocked|stuck',
    'T is|are not blocked|stuck any? more|anymore|longer?',
  ),
  ...say(({ T }) => ({ does: 'archive', target: T, archived: true }), 'archive T'),
  ...say(({ T }) => ({ does: 'archive', target: T, archived: false }), 'unarchive T'),
  ...say(
    ({ T, G }) => ({ does: 'tag', target: T, tag: G }),
    'tag|label T as|with? G',
    'add|put a|the? tag|label G to|on T',
    'add G tag|label to T',
    'add the? G as? a? tag|label to T',
  ),
  ...say(
    ({ T, G }) => ({ does: 'untag', target: T, tag: G }),
    'untag|unlabel T from|with? G',
    'remove|delete|drop|take the? tag|label G from|off|of T',
    'remove|delete|drop the? G tag|label from|off|of T',
  ),
  ...say(
    ({ T, H }) => ({ does: 'estimate', target: T, size: { estimated_hours: H } }),
    'estimate T at|with|to|as? H',
    'set the? estimate of|for T to|at H',
    "set T 's estimate to H",
  ),
  ...state(({ T, H }) => ({ does: 'estimate', target: T, size: { estimated_hours: H } }), `T ${TAKES} take? about? H`),
  ...say(
    ({ T, E }) => ({ does: 'estimate', target: T, size: { estimate: E } }),
    `estimate T at|with|to|as? E ${POINTS}?`,
    `set|change|put the? estimate of|for|on T to|at E ${POINTS}?`,
    `set|change T 's estimate to E ${POINTS}?`,
    `give|set|make T to? E ${POINTS}`,
  ),
  ...state(({ T, E }) => ({ does: 'estimate', target: T, size: { estimate: E } }), `T is|are worth? E ${POINTS}`),
  ...say(
    ({ T }) => ({ does: 'estimate', target: T, size: { estimate: null } }),
    'remove|clear|delete|drop the? estimate of|for|from|on T',
    "remove|clear|delete|drop T 's estimate",
  ),
  ...forms('all', ({ T, U }) => ({ does: 'place', target: T, project: U }), 'move|put|add|transfer T to|into|in|under U'),
  ...forms(
    'all',
    () => ({ does: 'doubt', text: 'Shall I list them, or assign them to you? Write “list …” or “assign … to me”.' }),
    'give me all|every|everything',
  ),
];

const blocks: Form['build'] = ({ T, U }) => ({ does: 'relate', source: T, target: U, type: 'blocks' });
const blocked: Form['build'] = ({ T, U }) => ({ does: 'relate', source: U, target: T, type: 'blocks' });
const related: Form['build'] = ({ T, U }) => ({ does: 'relate', source: T, target: U, type: 'related_to' });
const duplicate: Form['build'] = ({ T, U }) => ({ does: 'relate', source: T, target: U, type: 'related_to', isDuplicate: true });
const IS_DONE =
  'is|are|has|have? been? done|finished|through|over|ready|complete|completed|fixed|resolved|closed|signed|approved|paid|delivered?';
const some = (build: Form['build'], ...patterns: string[]): Form[] => forms('some', build, ...patterns);

/** One of both ends must be known, for any sentence may hold such words. */
export const RELATE: readonly Form[] = [
  ...some(
    blocked,
    'T is|are|was|should blocked|held|be by|up|blocked by? by? U',
    'T is|are stuck|held behind|on|up by? U',
    'T depends|depend on|upon U',
    'T needs|requires U first|before?',
    'T waits|wait|is|has|must|can to|only|be|not? start|starts|wait|waiting|begin|done|happen|dependent|finished? for|on|after U',
    `T cannot|can|will not? start|begin|be|go|ship|launch|happen|continue|proceed done|finished|ahead|live|out? before|until|without U ${IS_DONE}`,
    `T has|have|must|needs to? wait until|for U ${IS_DONE}`,
    `we cannot|can|will not? start|begin|do|ship|launch|finish|release T before|until|without U ${IS_DONE}`,
    `nothing happens|happen|starts|start|moves on|with|to T until|before U ${IS_DONE}`,
    'make T wait|depend for|on|upon U',
    'mark|set|make T as? being? blocked|dependent by|on U',
    'U must|has|needs to? be? done|finished|closed|come|happen|completed before T',
  ),
  ...some(
    blocks,
    'T blocks|block U',
    'T is|are blocking U',
    'T holds|is up|holding up? U',
    'make T block U',
    'mark T as blocking U',
  ),
  ...some(
    related,
    'T relates|is|are related? to U',
    'relate|link|connect T to|with|and U',
    'T has|is to|something|connected|linked to|with do|to? with? U',
  ),
  ...some(
    duplicate,
    'close|mark|set|flag|resolve T as a|the? duplicate|duplicates|dupe|copy of U',
    `T ${HAS_BEEN} just|only|really? a|the? duplicate|duplicates|dupe|copy of U`,
    'T duplicates|duplicate U',
  ),
];

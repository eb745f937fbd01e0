import { type Form, SAME, say, state } from './form.js';
import { OTHER, RELATE } from './item-forms.js';
import { HOLD_FORMS, SPEECH_FORMS } from './speech-forms.js';
import { PRIORITY_FORMS } from './priority-forms.js';
import { OWN_FORMS } from './own-forms.js';
import { OPEN_FORMS } from './open-forms.js';
import type { Target } from '../clauses.js';
import type { Slots } from '../pattern.js';
import { VERBS } from '../words.js';

const setStatus: Form['build'] = ({ T, S }) => ({ does: 'status', target: T, status: S });
const done: Form['build'] = ({ T }) => ({ does: 'status', target: T, status: 'done' });
const started: Form['build'] = ({ T }) => ({ does: 'status', target: T, status: 'in_progress' });
const inReview: Form['build'] = ({ T }) => ({ does: 'status', target: T, status: 'in_review' });
/** What a member does; nobody does nothing, which changes nothing. */
const by =
  (build: Form['build']): Form['build'] =>
  (slots) =>
    slots.P?.kind === 'nobody' ? undefined : build(slots);
/** Whether words name an item and are no order: in `delete review` the first one is the verb, unless a title is just `delete`. */
const isTitle = (target: Target): boolean =>
  target.kind === 'named' &&
  (!VERBS.has(target.written.split(/\s/, 1)[0]?.toLowerCase() ?? '') ||
    target.items.some(({ title }) => title.toLowerCase() === target.written.toLowerCase()));
/** What was done to a thing, so that its task is. */
const MADE =
  'paid|signed|sent|booked|ordered|bought|installed|printed|submitted|repaired|painted|translated|renewed|approved|merged';
const HAVE = 'is|are|was|were|be|has|have|got';

const STATUS: readonly Form[] = [
  ...say(
    setStatus,
    'mark|set|move|change|make|put|turn|flag|switch|get|bring|push|bump|advance|promote T as|to|into|in|back|onto? to|in|into|as? being? S',
    'mark|set|change|move|update|switch the? status|state of|for|on T to|as|into S',
    "mark|set|change|move|update|switch T 's status|state to|as|into S",
    'mark|set|change|move|update|switch its|their status|state to|as|into S',
    'mark|set T S',
    'close|complete|finish|resolve|start|begin|reopen T to|as S',
  ),
  ...say(
    done,
    'close|complete|finish|resolve|finalize|finalise T out|off|up?',
    'close|check|tick|cross|sign|wrap|finish out|off|up T',
    'check|tick|cross T off off|from? the|my|our? list?',
    'call T done|finished|complete',
  ),
  ...say(started, 'start|begin|kick|pick off|up? working|work? on|with? T', 'get started|going on|with T', 'kick T off'),
  ...say(
    ({ T }) => ({ does: 'status', target: T, status: 'todo' }),
    'reopen|re-open|restart|uncheck|untick T',
    'open T again',
    'put|move|send T back on|to|in the? backlog|list|todo',
  ),
  ...say(inReview, 'send|submit|hand|put|pass T to|for|in|over|into? for? a? review', 'start|begin reviewing T'),
  ...state(
    setStatus,
    `T ${HAVE} been? in|at|a? S`,
    `T should|can|must|to be|go|move in|to|into|back|as? to? S`,
    `T 's? status|state is|to|= S`,
    'status|state is|to|=? S',
  ),
  // What was done is done, whenever that was.
  ...state(
    ({ T, S }) =>
      S === 'done' && (T.kind === 'named' || T.kind === 'it') ? { does: 'status', target: T, status: S } : undefined,
    'T was|were|has|have|got been? S W',
  ),
  // `open` and `active` say too little alone.
  ...state(({ T, S }) => (isTitle(T) && S !== 'todo' ? { does: 'status', target: T, status: S } : undefined), 'T S'),
  ...state(
    by(done),
    'i|we have|has|just|are|is? been? finished|completed|closed|fixed|resolved|solved|did T',
    'P have|has|just|are|is? been? finished|completed|closed|fixed|resolved|solved|did T',
    'i|we am|are|is|have|has|been? done|finished|through with T',
    'P am|are|is|have|has|been? done|finished|through with T',
    'T can|could|may|should be? closed|completed|resolved',
    'work on T is done|finished|complete',
    `T ${HAVE} been? ${MADE}`,
    'i|we got T done|finished',
  ),
  ...state(
    by(started),
    'i|we have|has? started|began|begun on|with|working? on? T',
    'P have|has? started|began|begun on|with|working? on? T',
    'i|we am|are working on T',
    'work on T has? started|begun|began',
    'T has started|begun',
  ),
];

const to: Form['build'] = ({ T, P }) => ({ does: 'assign', target: T, to: P });
const ASSIGNING = 'assign|reassign|delegate|give|hand|pass|transfer|send|move|allocate';

const ASSIGN: readonly Form[] = [
  ...say(
    to,
    `${ASSIGNING} over|off? T over|off|back? to P`,
    `${ASSIGNING} T from P to P`,
    'set|change|make|update the? assignee|owner|responsible of|for|on T to|=? P',
    "set|change|make|update T 's assignee|owner to|=? P",
  ),
  ...state(
    by(to),
    'assign|put P to|on|onto T',
    'put|load T on|onto P',
    'give|hand|assign P T',
    'let|have|get|make|ask P to? do|take|handle|own|work|finish|complete|look|deal|fix over|on|with|after|into|care|at? of? T',
    'make P the? new? owner|assignee|responsible of|for T',
    'make P responsible|accountable for T',
    'can|could|would|will P take|do|handle|own|get|finish|look|fix|complete|manage over|on|with|after|into|care? of? T',
    'P should|will|can|must|takes|to|gets|owns|handles|does|could take|do|handle|own|be|get|finish|look|work|deal|fix? over|on|with|after|into|responsible|care|at? for|of? T',
    'P is|are on|taking|doing|handling|getting|owning|responsible over|for? T',
    'T should|must|has|needs|is to|be|go|belongs|belong? go|be|to? assigned|handled|done|owned|taken? to|by|for P',
    'T goes|go|belongs|belong to P',
    'T is for P',
  ),
  ...state(
    ({ P }) => ({ does: 'assign', target: SAME, to: P }),
    'assigned|assign|reassign to P',
    'set|change? its|their|the assignee|owner to|is|= P',
  ),
  ...state(
    ({ T }) => ({ does: 'assign', target: T, to: { kind: 'me' } }),
    'i will|can|would? take|do|handle|own|pick over|on|up|care? of? T myself|now?',
    'i am taking|doing|handling T',
    'T is mine',
    'grab|take T',
    'i take|got|have T',
  ),
  ...state(({ T, P }) => ({ does: 'join', target: T, to: P }), 'add|put|include P to|on|in T', 'add|put P on to T'),
  ...say(
    ({ T }) => ({ does: 'unassign', target: T, from: null }),
    'unassign|deassign T',
    'remove|clear|delete|drop|take the? assignee|owner|assignment from|of|off|on|for T',
    "remove|clear|delete|drop T 's assignee|owner",
    'leave T unassigned',
    'make T unassigned',
  ),
  ...state(
    ({ T, P }) => ({ does: 'unassign', target: T, from: P }),
    'take|remove|unassign|pull P off|from of? T',
    'unassign T from P',
    'take|remove T from|off|away from? P',
  ),
];

/** A member shall do it by a day: both are changed. */
const PROMISED = 'done|finished|ready|complete|completed|closed|fixed';
/** The tasks that a person has. */
const tasksOf = (assignee: Slots['P']): Slots['T'] => ({ kind: 'all', filter: { assignee }, written: 'their tasks' });
const due: Form['build'] = ({ T, D }) => ({ does: 'due', target: T, date: D });
const sooner = ({ days, months }: Slots['N']) => ({ days: -days, months: -months });
const later: Form['build'] = ({ T, N }) => ({ does: 'shift', target: T, by: N });
const earlier: Form['build'] = ({ T, N }) => ({ does: 'shift', target: T, by: sooner(N) });
const cleared: Form['build'] = ({ T }) => ({ does: 'due', target: T, date: { date: null } });
const DATE = 'due|deadline|date';
const MOVING =
  'move|push|postpone|delay|defer|shift|reschedule|put|extend|slip|kick|bump|drag|snooze|pull|bring|schedule|plan|set|change|make';
const DELAYING = 'move|push|postpone|delay|defer|shift|reschedule|put|extend|slip|kick|bump|drag|snooze';

const DUE: readonly Form[] = [
  ...state(
    ({ T, P, D }) => (P.kind === 'nobody' ? undefined : { does: 'due', target: T, date: D, to: P }),
    `P should|must|has|needs|will to? have|get T ${PROMISED} by|before|until|on D`,
    `P should|must|has|needs|will to? finish|complete|do|close|deliver T by|before|until|on D`,
  ),
  ...say(
    due,
    `${MOVING} the? ${DATE} date? of|for|on T back|out|forward|up? to|until|till|at|for|=? D`,
    `${MOVING} T 's ${DATE} date? back|out|forward|up? to|until|till|for|=? D`,
    `${MOVING} T from D to|until|till D`,
    `${MOVING} T back|out|off|forward|over|up|on|ahead? to|until|till|for|by|due? D`,
    `set|make|mark|change|schedule|plan T to|as? be|is? due|scheduled by|on|at|for|until? D`,
    'give|set T a|the? new? due|deadline date? of|to|on|for? D',
    'due|schedule T for|on|by|to? D',
    'set|add|put a|the? new? due|deadline date? of|for|to? D on|for|to T',
    'finish|complete|close|do|get|have|resolve T done|finished|closed|completed|ready? by|before|until|till D',
    'finish|complete|close|do|get|have|resolve T no later than D',
    'do|get|have T done|finished|closed|completed|ready? on|at? D',
  ),
  ...state(
    ({ P, D }) => ({ does: 'due', target: tasksOf(P), date: D }),
    `${MOVING} all|every? of? P 's? deadlines|dates back|out|forward? to|until|till D`,
    `${MOVING} all|every? of? P 's? due dates back|out|forward? to|until|till D`,
    `${MOVING} all|every? the? deadlines|dates of P back|out|forward? to|until|till D`,
  ),
  ...say(
    later,
    `${DELAYING} T back|out|off|on|over|forward|ahead? by|for? N back|out|later|further|more|longer?`,
    `${DELAYING} the? ${DATE} date? of|for|on T back|out? by? N later?`,
    `${DELAYING} T 's ${DATE} date? back|out? by? N later?`,
    'give|grant|allow T N more|extra|longer?',
    'i|we need|want|have|get|got N more|extra|longer? for|on|with T',
    'add N to T',
  ),
  ...say(
    earlier,
    'bring|pull|move|shift|push T forward|up|in by? N earlier|sooner?',
    'bring|pull|move|shift|make|push T by? N earlier|sooner|forward|up',
    'bring|pull|move|shift|push the? due|deadline date? of|for|on T forward|up|in? by? N earlier|sooner|forward?',
  ),
  ...say(
    cleared,
    'clear|remove|delete|drop|unset|cancel the? due|deadline date? of|from|for|on|off T',
    "clear|remove|delete|drop|unset|cancel T 's due|deadline date?",
    'take the? due|deadline date? off|from of? T',
    'unschedule T',
    'no due|deadline date? for|on T needed|necessary|required|anymore?',
  ),
  ...state(
    cleared,
    'T has|have|needs|need no due|deadline date? any? more|anymore?',
    'T does|do not need|have a|any? due|deadline date? any? more|anymore?',
  ),
  ...state(
    due,
    'T is|are|was due|scheduled|planned|wanted|needed on|by|at|for? D',
    'T slips|slipped|moves|moved|goes|shifts back|out? to|until|till D',
    'T is|was|gets postponed|moved|delayed|pushed|rescheduled|shifted|extended back|out? to|until|till D',
    'T should|must|has|have|needs|need|can|to|will to|be|have|happen|start|end|wait|slip|move|get|a? be|until|to|due|deadline|happen|start|end? due|done|finished|completed|ready|closed|shipped|delivered|deadline|date|fixed|of|moved|postponed|back? by|on|before|until|till|to|for|of? D',
    'T has|have|gets a? due|deadline date? of? D',
    'i|we need|want T done|finished|ready|fixed|back? by|before|on|until D',
  ),
  ...state(
    ({ D }) => ({ does: 'due', target: SAME, date: D }),
    `set|change|move|push|make|and? its|the|their? ${DATE} date? is|to|on|by|for|until? D`,
    'postponed|moved until|to D',
    'reschedule|schedule|move|postpone|push to|until|for|by D',
  ),
  ...state(({ N }) => ({ does: 'shift', target: SAME, by: N }), `${DELAYING} its|the|their? ${DATE}? date? back|out? by? N`),
  ...state(
    later,
    'T needs|gets|has|takes N more|longer|extra?',
    'T is|will|slips|slipped be? delayed|postponed|late|later? by N',
  ),
];

const FIRST = [...HOLD_FORMS, ...OWN_FORMS];

/** All forms, in the order in which they are tried. */
export const FORMS: readonly Form[] = [
  FIRST,
  ASSIGN,
  STATUS,
  PRIORITY_FORMS,
  SPEECH_FORMS,
  DUE,
  OTHER,
  RELATE,
  OPEN_FORMS,
].flat();

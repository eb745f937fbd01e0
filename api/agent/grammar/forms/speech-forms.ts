import type { BareClause } from '../clauses.js';
import { type Form, say, state } from './form.js';

/** Changes as people say them to each other: “I want … to be done by Friday”, “put … on hold”. */

const WANT = 'i|we want|need|would|must like|love|prefer|have?';
const FINISHED = 'done|finished|ready|complete|completed|closed|fixed|live|shipped|delivered|through';
const BY = 'by|before|until|till|on';
const TAKE = 'take|do|handle|own|finish|complete|get|look|work|have|review|fix|close';
const WHOM = /me|us|everyone|everybody|them|people|him|her/.source;
const AFTER = 'over|on|at|after|into|care? of?';

const onHold: Form['build'] = ({ T }): BareClause => ({ does: 'cannot', what: 'hold', target: T });

/** Before all others, so that no member whose name is a word of it is given the task. */
export const HOLD_FORMS: readonly Form[] = [
  ...say(
    onHold,
    'put|place|set|keep|leave T on hold|ice',
    'move|set|change T to on hold',
    'mark|flag T as on hold',
    'pause|park|freeze|shelve T',
    'T is|are|goes|should|must|can be|go? on hold|ice now?',
  ),
];

export const SPEECH_FORMS: readonly Form[] = [
  ...state(
    ({ T, D }) => ({ does: 'due', target: T, date: D }),
    // The longest set first would be of tasks that are done.
    `${WANT} T to? be? ${FINISHED} ${BY} D`,
    `${WANT} T ${BY} D`,
    `${WANT} T to be due|finished|done on|by? D`,
    `make|be sure|certain that? T is|gets|are|has|will be? been? ${FINISHED} ${BY} D`,
    `T needs|need|has|have|must|should to? be|get ${FINISHED} ${BY} D`,
    `see that|to it? that? T is|gets ${FINISHED} ${BY} D`,
  ),
  ...state(
    ({ T, R }) => ({ does: 'priority', target: T, priority: R }),
    `${WANT} T to? be|become|have|get|as a? R priority?`,
    `${WANT} T at a? R priority?`,
    'treat|handle T as R',
  ),
  ...state(
    ({ T, P }) => (P.kind === 'nobody' ? undefined : { does: 'assign', target: T, to: P }),
    `${WANT} P to ${TAKE} ${AFTER} T`,
    `${WANT} P to take T over`,
    `${WANT} P on T`,
    `${WANT} T to? be? done|handled|taken|owned|finished|reviewed|assigned over? by|to P`,
    `it would be great|good|nice|helpful|best if P could|would|can|${TAKE} ${TAKE}? ${AFTER} T`,
    'it would be great|good|nice|helpful|best if P could|would take T over',
    'P should|will|can|must|could|to|has take|to? take? T over',
    'put|get P on T',
    'T should|could|can|needs|has|to to? go|be handed|given|passed over? to P',
  ),
  ...state(
    ({ T, S }) => (S === 'done' ? undefined : { does: 'status', target: T, status: S }),
    `${WANT} T to? be|go|move? in|into|to|back? S`,
    'T needs|need|has|have to be|go|move in|into|to|back? S',
  ),
  ...say(
    ({ T, D }) => ({ does: 'cannot', what: 'remind', target: T, date: D }),
    `remind ${WHOM} on|at|by|in? D about|of|on|to T`,
    `remind ${WHOM} about|of|on T on|at|by|in? D`,
  ),
  ...say(({ T }) => ({ does: 'cannot', what: 'remind', target: T }), `remind ${WHOM} about|of|on T`),
];

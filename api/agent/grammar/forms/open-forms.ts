import type { BareClause, Target } from '../clauses.js';
import { type Form, state } from './form.js';

/** Changes that leave out their value, which is asked, and those that exchange two values. */

/** What a pronoun means may be something else than a task to be changed. */
const lacking =
  (lacks: Extract<BareClause, { does: 'incomplete' }>['lacks']) =>
  ({ T }: { T: Target }): BareClause | undefined =>
    T.kind === 'named' || T.kind === 'list' || T.kind === 'all' ? { does: 'incomplete', target: T, lacks } : undefined;

/** Only what is known lacks a value: the words behind another name may be the value. */
export const OPEN_FORMS: readonly Form[] = [
  ...state(
    lacking('person'),
    'assign|reassign|delegate T to?',
    'hand|give|pass T over|on|to?',
    'change|set|replace the? assignee|owner of|for T',
    'find someone|anyone for T',
  ),
  ...state(
    lacking('date'),
    'move|postpone|reschedule|schedule|delay|defer|push|shift T back|out|to?',
    'change|set|move|extend the? due|deadline date? of|for|on T',
    "change|set|move|extend T 's due|deadline date?",
  ),
  ...state(lacking('priority'), 'change|set|update the? priority of|for T', "change|set|update T 's priority"),
  ...state(lacking('status'), 'change|set|update the? status|state of|for T', "change|set|update T 's status|state"),
  ...state(
    ({ T }) => ({ does: 'swap', target: T }),
    'swap|switch|exchange|trade|flip the? assignees|owners|assignee|owner of|for|on|between T around?',
    "swap|switch|exchange T 's assignees|owners|assignee|owner",
    'swap|exchange who has|does|owns|works on? T',
  ),
];

import { type Form, SAME, say, state } from './form.js';

const setStage: Form['build'] = ({ T, K }) => ({ does: 'stage', target: T, stages: K });
const setField: Form['build'] = ({ T, F, X }) => ({ does: 'field', target: T, fields: F, value: X });

/** Stages and custom fields, by the names of the team: they come before the words that every team has. */
export const OWN_FORMS: readonly Form[] = [
  ...say(
    setStage,
    'mark|set|move|change|make|put|turn|switch|get|bring|push|bump|advance|promote|send|take T as|to|into|in|back|onto? to|in|into? the? K stage|column?',
    'set|change|move|update|switch the? stage|column of|for|on T to|as|into K',
    "set|change|move|update|switch T 's stage|column to|as|into K",
  ),
  ...state(
    setStage,
    'T should|can|must|to be|go|move in|to|into|back? to? the? K',
    'T is|are now|ready? in|at? K',
    "T 's? stage is|to|= K",
  ),
  ...state(({ K }) => ({ does: 'stage', target: SAME, stages: K }), 'set|change its|the stage to|as|= K'),
  ...say(setField, 'set|change|update|make the? F of|for|on T to|as|=? X', "set|change|update|make T 's F to|as|=? X"),
  ...state(
    ({ F, X }) => ({ does: 'field', target: SAME, fields: F, value: X }),
    'set|change|update|make its|the|their? F to|as|= X',
  ),
];

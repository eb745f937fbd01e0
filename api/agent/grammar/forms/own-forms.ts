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
  ...say(
    setField,
    'set|change|update|make the? F to|as|= X for|of|on T',
    'give T a|an|the? F of? X',
    'set|change|make|put T to|at? F of? X',
  ),
  ...say(
    ({ T, F }) => ({ does: 'field', target: T, fields: F, value: null }),
    'clear|remove|unset|delete|drop|empty the? F of|from|on|for T',
    "clear|remove|unset|delete|drop|empty T 's F",
  ),
  ...say(
    ({ T, V }) => ({ does: 'field', target: T, fields: [V.field], value: V.label }),
    'make|mark|set|rate|classify|put|change T as|to|at? a|an? V',
  ),
  ...state(
    ({ T, V }) => ({ does: 'field', target: T, fields: [V.field], value: V.label }),
    'T should|must|has to? be a|an? V',
    'T is now? a|an? V now?',
  ),
  ...say(setField, 'set|change|update|make the? F of|for|on T to|as|=? X', "set|change|update|make T 's F to|as|=? X"),
  ...state(
    ({ F, X }) => ({ does: 'field', target: SAME, fields: F, value: X }),
    'set|change|update|make its|the|their? F to|as|= X',
  ),
];

import { type Form, SAME, say, state } from './form.js';

const setPriority: Form['build'] = ({ T, R }) => ({ does: 'priority', target: T, priority: R });
const up: Form['build'] = ({ T }) => ({ does: 'step', target: T, by: 1 });
const down: Form['build'] = ({ T }) => ({ does: 'step', target: T, by: -1 });
const CHANGING = 'set|change|make|raise|lower|increase|decrease|reduce|bump|drop|put|update|move';

/** Sentences that give a task another priority, or none. */
export const PRIORITY_FORMS: readonly Form[] = [
  ...say(
    setPriority,
    `${CHANGING} the? priority of|for|on T up|down? to|as|at|=? R`,
    `${CHANGING} T 's priority up|down? to|as|at|=? R`,
    `${CHANGING} priority to? R for|on|of T`,
    'set|give|put|use? a? R priority on|for|to T',
    'mark|set|make|flag|bump|raise|lower|move|change|drop|treat|turn|upgrade|downgrade|escalate|prioritise|prioritize T up|down? as|to|into|with|at|on? R',
    'make T my|our|the|a R',
    'give|assign T R',
    'give R priority to T',
  ),
  ...say(
    ({ T }) => ({ does: 'priority', target: T, priority: 'none' }),
    `${CHANGING} the? priority of|for|on T to|as none|nothing`,
    `${CHANGING} T 's priority to|as none|nothing`,
    'remove|clear|unset|delete|drop|take the? priority of|from|on|for|off T',
    "remove|clear|unset|delete T 's priority",
    'set|give T no priority',
  ),
  ...say(
    up,
    'prioritise|prioritize|escalate T',
    'raise|increase|bump|up up? the? priority of|for|on T',
    "raise|increase|bump T 's priority",
    'raise|increase|bump T in priority',
    'make T more important|urgent',
    'give T a? higher priority',
    'bump|move|take T up a? notch|step|level|bit?',
  ),
  ...say(
    down,
    'deprioritise|deprioritize|de-prioritise|de-prioritize T',
    'bump|move|take|knock T down a notch|step|level',
    'lower|decrease|reduce|drop|bump the? priority of|for|on T down?',
    "lower|decrease|reduce|drop T 's priority",
    'make T less important|urgent',
    'give T a? lower priority',
  ),
  ...state(
    setPriority,
    'T is|are|has|have|should|must|becomes|become|gets|get be|get|have|now|of|very|a? very? R',
    'T has|have|gets a? priority R',
    'T priority is|to? R',
    'priority of|for|on T is|to? R',
  ),
  ...state(
    ({ T, R }) => ({ does: 'unprioritize', target: T, priority: R }),
    'T is|are|was|has|have no longer a|the|such? that|so|very? R',
    'T is|are|was not no? longer? a|the|such? that|so|very|quite|all? R any? more|anymore|longer?',
    'T is|are not to? be? of? R',
  ),
  ...state(
    ({ R }) => ({ does: 'priority', target: SAME, priority: R }),
    'set|change|make|raise|lower|bump? its|the? priority up|down? to|is|as|=? R',
    'with? a|the? R priority?',
  ),
  ...state(() => ({ does: 'step', target: SAME, by: 1 }), 'raise|increase|bump its priority'),
  ...state(() => ({ does: 'step', target: SAME, by: -1 }), 'lower|decrease|reduce|drop its priority'),
];

import type { Recurrence } from '../../api/work/tasks/recurrence/rules.js';
import type { TaskPriority, TaskStatus } from '../../api/work/tasks/rules.js';

export interface DemoTask {
  title: string;
  status?: TaskStatus;
  priority?: TaskPriority;
  /** Days after seeding; negative is overdue. */
  due?: number;
  who?: 'ada' | 'max' | 'uma' | 'tina' | 'dana';
  tags?: string[];
  hours?: number;
  description?: string;
  recurrence?: Recurrence;
  subtasks?: DemoTask[];
}

const ESTIMATES = [8, 3, 5, 2, undefined, 1, 3];
/** Points of one task of a project after the other; some have none yet, and subtasks count by the estimate of their task. */
export const estimateOf = (index: number): number | undefined => ESTIMATES[index % ESTIMATES.length];

/** A rocket's avionics team in mid-project: a realistic board. */
export const APOLLO: DemoTask[] = [
  {
    title: 'Guidance computer 1.4 release',
    status: 'in_progress',
    priority: 'high',
    due: 9,
    who: 'max',
    tags: ['release'],
    description: 'Everything that must be in before the static fire on pad B.',
    subtasks: [
      { title: 'Freeze the star catalogue format', status: 'done', who: 'uma', hours: 6 },
      { title: 'Replay last year’s telemetry against the new filter', status: 'in_review', who: 'tina', hours: 16 },
      { title: 'Write the operator notes', status: 'todo', who: 'uma', hours: 4 },
      { title: 'Sign the build with the flight key', status: 'todo', who: 'ada', priority: 'urgent', due: 8 },
    ],
  },
  {
    title: 'Login page answers 500 when the session cookie is garbage',
    status: 'in_review',
    priority: 'urgent',
    who: 'uma',
    tags: ['bug', 'security'],
    due: 1,
  },
  {
    title: 'Telemetry gaps longer than 200 ms go unnoticed',
    status: 'todo',
    priority: 'high',
    tags: ['bug'],
    due: -3,
    who: 'tina',
  },
  {
    title: 'Clock drift alarm fires during planned resync',
    status: 'in_progress',
    priority: 'medium',
    tags: ['bug'],
    due: 4,
    who: 'dana',
  },
  { title: 'Replace the vendored CRC table', status: 'done', priority: 'low', who: 'uma', tags: ['cleanup'], hours: 2 },
  {
    title: 'Abort sequence: second opinion from the redundant computer',
    status: 'in_progress',
    priority: 'urgent',
    due: 14,
    who: 'ada',
    tags: ['safety'],
    hours: 40,
    subtasks: [
      { title: 'Fault tree for disagreeing computers', status: 'done', who: 'ada', hours: 12 },
      { title: 'Vote within 20 ms', status: 'in_progress', who: 'max', hours: 18 },
      { title: 'Range safety review', status: 'todo', who: 'ada', due: 12 },
    ],
  },
  {
    title: 'Move the ground station to the new antenna protocol',
    status: 'todo',
    priority: 'medium',
    due: 21,
    who: 'max',
    tags: ['migration'],
  },
  { title: 'Fuel pressure graph starts at zero, not at the first sample', status: 'todo', priority: 'low', tags: ['bug', 'ui'] },
  { title: 'Document how to rotate the webhook secret', status: 'done', priority: 'medium', who: 'tina', tags: ['docs'] },
  { title: 'Night shift hand-over checklist', status: 'todo', priority: 'medium', due: -6, who: 'max', tags: ['ops'] },
  {
    title: 'Load test the telemetry ingest at 5,000 samples a second',
    status: 'in_review',
    priority: 'high',
    who: 'dana',
    tags: ['performance'],
    due: 2,
  },
  { title: 'Flaky test: valve closes before the assertion', status: 'todo', priority: 'medium', tags: ['ci'], who: 'uma' },
  { title: 'Upgrade the simulator to the new aero tables', status: 'todo', priority: 'medium', due: 30, hours: 24 },
  { title: 'Retire the serial console', status: 'todo', priority: 'low', tags: ['cleanup'], due: 60 },
  {
    title: 'Weekly anomaly review',
    status: 'todo',
    priority: 'medium',
    who: 'ada',
    tags: ['meeting'],
    due: 3,
    description: 'Done, it comes back a week later.',
    recurrence: { rule: 'FREQ=WEEKLY', mode: 'on_complete', timezone: 'Europe/Berlin', until: null, count: null },
    subtasks: [{ title: 'Collect what the night shift saw', who: 'tina', due: 2 }],
  },
  {
    title: 'Engine 3 gimbal shows a 0.2° offset after cold soak',
    status: 'in_progress',
    priority: 'high',
    who: 'tina',
    tags: ['hardware'],
    due: -1,
  },
];

export const HERMES: DemoTask[] = [
  {
    title: 'Customer notifications, first cut',
    status: 'in_progress',
    priority: 'high',
    who: 'uma',
    due: 6,
    tags: ['launch'],
    subtasks: [
      { title: 'Template for a scrubbed launch', status: 'in_review', who: 'uma', hours: 3 },
      { title: 'Quiet hours by the reader’s time zone', status: 'todo', who: 'dana', hours: 8 },
      { title: 'Unsubscribe in one click', status: 'done', who: 'uma', hours: 2 },
    ],
  },
  { title: 'Choose a mail provider', status: 'done', priority: 'medium', who: 'max', hours: 5 },
  { title: 'Bounce handling', status: 'todo', priority: 'high', due: 11, who: 'dana' },
  {
    title: 'Press kit page loads 14 MB of pictures',
    status: 'todo',
    priority: 'medium',
    tags: ['bug', 'performance'],
    due: -2,
    who: 'uma',
  },
  { title: 'Translate the countdown page', status: 'todo', priority: 'low', tags: ['i18n'], due: 25 },
  { title: 'Status page for launch week', status: 'in_progress', priority: 'medium', who: 'max', due: 5 },
  { title: 'Decide what we say when we scrub', status: 'in_review', priority: 'high', who: 'ada', due: 1, tags: ['comms'] },
  { title: 'Remove the old newsletter importer', status: 'todo', priority: 'low', tags: ['cleanup'] },
];

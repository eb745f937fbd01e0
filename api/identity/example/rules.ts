/** An example with its automation, the task that starts it and its last run; null where one of these is gone. */
export interface ExampleRow extends Record<string, unknown> {
  team_id: string;
  team_name: string;
  project_id: string;
  is_active: boolean | null;
  task_id: string | null;
  task_title: string | null;
  task_status: string | null;
  run_id: string | null;
  run_status: string | null;
  skip_reason: string | null;
  finished_at: Date | null;
  /** The gate of the run was approved. */
  is_approved: boolean;
  /** The task was completed a moment ago, and the run that this starts is not there yet. */
  is_starting: boolean;
}

/** The steps in their order. */
const STEPS = ['team', 'fill', 'enable', 'finish', 'decide'] as const;
type Step = (typeof STEPS)[number];

export interface FirstSteps {
  /** Steps that are done. */
  done: number;
  /** The next step; null after the last. */
  next: Step | null;
  team: { team_id: string; name: string } | null;
  example: ExampleRow | null;
  /** The automation or its task was deleted: the example leads no further. */
  isBroken: boolean;
  /** What the run does now; null while it waits for a decision, and without one that has not ended. */
  runState: 'starting' | 'changing' | null;
}

type Given = ExampleRow | Pick<ExampleRow, 'team_id' | 'team_name'> | null;

const isWhole = (given: Exclude<Given, null>): given is ExampleRow => 'project_id' in given;

/** Returns how many steps of an example are done. A run counts while it can still be decided, and once a user has decided it. */
function countDone({ is_active, run_status, skip_reason, finished_at, is_starting }: ExampleRow): number {
  if (is_starting) return 4;
  if (run_status === 'succeeded' || skip_reason === 'rejected') return 5;
  if (run_status !== null && finished_at === null) return 4;
  return is_active ? 3 : 2;
}

function runStateOf({ is_starting, is_approved, run_status }: ExampleRow): FirstSteps['runState'] {
  if (is_starting) return 'starting';
  if (is_approved) return 'changing';
  return run_status === 'paused' ? null : 'starting';
}

/** Returns the first steps of a user: without a team (null), with a team only, or with an example. */
export function stepsOf(given: Given): FirstSteps {
  const example = given && isWhole(given) ? given : null;
  const done = example ? countDone(example) : given ? 1 : 0;
  return {
    done,
    next: STEPS[done] ?? null,
    team: given && { team_id: given.team_id, name: given.team_name },
    example,
    isBroken: example !== null && done < STEPS.length && (example.is_active === null || example.task_id === null),
    runState: example && done === 4 ? runStateOf(example) : null,
  };
}

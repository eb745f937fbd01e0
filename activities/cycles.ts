import { completeDueCycle } from '../api/work/cycles/completion/complete-due-cycle.js';
import { cycleDispatchesStatement } from '../api/work/cycles/completion/due-cycles.sql.js';
import type { Services } from '../api/platform/context.js';
import {
  CYCLE_CLOCK,
  CYCLE_SIGNALS,
  type CycleActivities,
  type CycleClockInput,
  cycleWorkflowId,
} from '../workflows/contracts/cycle-contract.js';
import { SEARCH_ATTRIBUTES as ATTRIBUTE } from '../workflows/search-attributes.js';
import { defineRowWorkflow } from './row-workflow.js';

/** An outbox row that starts or wakes a clock; the columns of the cycle are null if it was deleted. */
interface Row {
  outbox_id: number;
  correlation_id: string;
  cycle_id: string;
  team_id: string;
  project_id: string | null;
  number: number | null;
  status: string | null;
  created_by: string | null;
  due_at: Date | null;
}

/** The clocks of active cycles. */
export const cycles = defineRowWorkflow<Row, { cycle_id: string; due_at: Date }>({
  notes: [
    {
      process: 'cycle',
      workflowId: 'cycle:<cycle_id>',
      shows: 'Cycles that a date completes; sort by `NextAttemptAt` to see the next one first',
    },
  ],
  invariants: [
    {
      name: 'cycles_clocked',
      words: 'No cycle that a date completes has been without an open workflow for more than 60 s',
      sql: /* sql */ `
        select cycle_id::text as violation from cycles
        where status = 'active' and auto_complete and updated_at < clock_timestamp() - interval '60 seconds' order by cycle_id`,
      buildWorkflowId: cycleWorkflowId,
    },
  ],
  activities: {
    core: (services: Services): CycleActivities => ({ completeDueCycle: (cycleId) => completeDueCycle(services, cycleId) }),
  },
  plural: 'cycles',
  kinds: ['cycle.clock'],
  dispatches: cycleDispatchesStatement,
  workflow: CYCLE_CLOCK,
  getId: ({ cycle_id }) => cycleWorkflowId(cycle_id),
  input: ({ cycle_id }): CycleClockInput => ({ cycleId: cycle_id }),
  attributes: (row) => ({
    RunState: 'waiting',
    TriggerType: 'schedule',
    TeamId: row.team_id,
    EntityId: row.cycle_id,
    ProjectId: row.project_id,
    ActorId: row.created_by,
    NextAttemptAt: row.due_at,
  }),
  summary: ({ number, due_at }) => `Cycle ${number}, until ${due_at?.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  details: ({ cycle_id, team_id }) => [`Cycle \`${cycle_id}\` of team \`${team_id}\``],
  fairnessKey: ({ team_id }) => team_id,
  /** Only a cycle that a date completes needs a clock; another one has at most one to wake. */
  deliver: ({ due_at, status }) => ({
    start: due_at !== null,
    signal: due_at === null && status === 'completed' ? CYCLE_SIGNALS.completed : CYCLE_SIGNALS.datesChanged,
  }),
  wake: { signal: CYCLE_SIGNALS.datesChanged },
  table: {
    name: 'cycles',
    rows: 'cycle_clocks',
    key: 'cycle_id',
    where: "r.status = 'active' and r.auto_complete",
    columns: ['cycle_due(r) as due_at'],
    copies: ['team_id', 'project_id', 'correlation_id'],
  },
  isBehind: ({ due_at }, { attributes }) => attributes.get(ATTRIBUTE.NextAttemptAt)?.getTime() !== due_at.getTime(),
});

import { ADA, AT, TEAM_ID } from './people.js';

const CYCLE_ID = '019a9f00-0000-7000-8000-000000000081';

const days = [
  { date: '2026-11-18', remaining: 12, estimate: 34 },
  { date: '2026-11-19', remaining: 9, estimate: 26 },
  { date: '2026-11-20', remaining: 5, estimate: 13 },
];
const figures = {
  committed: 12,
  added: 2,
  completed: 9,
  carried_over: 5,
  points: { committed: 40, completed: 31.5 },
  estimate: { scope: 34, completed: 21, without: 2 },
  days,
};
const cycle = {
  cycle_id: CYCLE_ID,
  name: 'Cycle 12',
  goal: 'Sign-in works on every browser',
  team_id: TEAM_ID,
  project_id: null,
  number: 12,
  start_date: '2026-11-18',
  end_date: '2026-11-20',
  status: 'completed',
  auto_complete: true,
  repeats: true,
  task_count: 9,
  done_count: 9,
  created_by: ADA,
  created_at: AT,
  updated_at: AT,
  started_at: AT,
  completed_at: AT,
  snapshot: figures,
};

/** Example responses about cycles. */
export const CYCLES: Record<string, unknown> = {
  Cycle: cycle,
  CycleReport: { cycle, ...figures },
  DeletedCycle: { success: true, cycle_id: CYCLE_ID },
  RemovedTask: { success: true, task_id: 'TASK-123' },
};

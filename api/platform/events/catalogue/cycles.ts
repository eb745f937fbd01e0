import { stored } from '../declare.js';
import { changed, Changes, Cycle, TASK, TEAM } from './shapes.js';

const CYCLE = {
  cycle_id: '0197a000-0000-7000-8000-000000000010',
  name: 'Cycle 12',
  goal: 'Sign-in works on every browser',
  team_id: TEAM,
  project_id: TASK.project_id,
  number: 12,
  start_date: '2026-11-09',
  end_date: '2026-11-20',
  status: 'active',
  auto_complete: true,
  repeats: false,
  task_count: 14,
  done_count: 0,
  snapshot: null,
};
const FIGURES = { committed: 12, added: 2, completed: 9, carried_over: 5, points: { committed: 40, completed: 31 }, days: [] };

export const cycleEvents = {
  'cycle.started': stored({
    payload: { cycle: Cycle, changes: Changes },
    trigger: 'A cycle starts',
    past: 'A cycle started',
    webhook: true,
    sample: { cycle: CYCLE, ...changed('status', 'planned', 'active') },
  }),
  'cycle.completed': stored({
    payload: { cycle: Cycle, changes: Changes },
    trigger: 'A cycle is completed',
    past: 'A cycle was completed',
    webhook: true,
    sample: {
      cycle: { ...CYCLE, status: 'completed', done_count: 9, snapshot: FIGURES },
      ...changed('status', 'active', 'completed'),
    },
  }),
};

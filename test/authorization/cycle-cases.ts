import { LIVE, type Row, TRASHABLE } from './row.js';

const ofCycle = (route: string, body?: unknown, subject: 'cycle' | 'activeCycle' = 'cycle'): Row => ({
  route,
  by: 'cycle_id',
  subject,
  kinds: LIVE,
  send: (s) => ({ params: { cycle_id: s.id, task_id: s.task_id }, ...(body === undefined ? {} : { body }) }),
});

/** The team or project of a cycle cannot change, whichever the other is. */
const fixed = (names: 'team_id' | 'project_id'): Row => ({
  route: 'PATCH /api/sprints/:cycle_id',
  by: names,
  subject: 'cycle',
  names,
  kinds: LIVE,
  send: (s) => ({ params: { cycle_id: s.id }, body: { name: 'Another', [names]: s[names] } }),
  reference: { foreign: 400, unknown: 400, garbage: 400, respelt: 400 },
  why: 'a cycle cannot change its place, whichever the other is',
});

/** Cycles, their tasks, and their course. */
export const cycleCases: Row[] = [
  {
    route: 'GET /api/sprints',
    subject: 'cycle',
    names: 'team_id',
    kinds: LIVE,
    send: (s) => ({ query: { team_id: s.team_id, limit: '500' } }),
    list: true,
  },
  {
    route: 'POST /api/sprints',
    by: 'team_id',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { team_id: s.id, name: 'Cycle' } }),
  },
  {
    route: 'POST /api/sprints',
    by: 'project_id',
    subject: 'project',
    kinds: TRASHABLE,
    send: (s) => ({ body: { project_id: s.id, name: 'Cycle' } }),
  },
  ofCycle('GET /api/sprints/:cycle_id'),
  ofCycle('PATCH /api/sprints/:cycle_id', { name: 'Another' }),
  fixed('team_id'),
  fixed('project_id'),
  ofCycle('DELETE /api/sprints/:cycle_id'),
  {
    route: 'POST /api/sprints/:cycle_id/tasks',
    by: 'cycle_id',
    subject: 'cycleAndTask',
    kinds: LIVE,
    send: (s) => ({ params: { cycle_id: s.id }, body: { task_ids: [s.task_id] } }),
  },
  {
    route: 'POST /api/sprints/:cycle_id/tasks',
    by: 'task_ids',
    subject: 'cycleAndTask',
    names: 'task_id',
    kinds: LIVE,
    send: (s) => ({ params: { cycle_id: s.id }, body: { task_ids: [s.task_id] } }),
    reference: { foreign: 403, unknown: 404, garbage: 404, respelt: 404 },
    why: 'tasks of another team are no tasks of the cycle',
  },
  ofCycle('DELETE /api/sprints/:cycle_id/tasks/:task_id'),
  {
    route: 'DELETE /api/sprints/:cycle_id/tasks/:task_id',
    by: 'task_id',
    subject: 'cycle',
    names: 'task_id',
    kinds: LIVE,
    send: (s) => ({ params: { cycle_id: s.id, task_id: s.task_id } }),
    reference: { foreign: 404, unknown: 404, garbage: 404, respelt: 404 },
    why: 'only what is in the cycle can leave it',
  },
  ofCycle('POST /api/sprints/:cycle_id/start'),
  ofCycle('POST /api/sprints/:cycle_id/complete', {}, 'activeCycle'),
  {
    route: 'POST /api/sprints/:cycle_id/complete',
    by: 'rollover_to',
    subject: 'cycleToRollOver',
    names: 'user_id',
    kinds: LIVE,
    send: (s) => ({ params: { cycle_id: s.id }, body: { rollover_to: s.user_id } }),
    reference: { foreign: 403, unknown: 404, garbage: 404, respelt: 404 },
    why: 'the cycle that gets the open tasks must be one that the caller may read',
  },
  ofCycle('GET /api/sprints/:cycle_id/report', undefined, 'activeCycle'),
  {
    route: 'GET /api/tasks',
    by: 'cycle_id',
    subject: 'cycle',
    kinds: LIVE,
    send: (s) => ({ query: { cycle_id: s.id } }),
  },
];

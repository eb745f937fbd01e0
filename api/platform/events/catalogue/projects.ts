import { z } from 'zod';
import { derived, stored } from '../declare.js';
import { CASCADE, changed, Changes, Cycle, Member, Note, PERSON, PROJECT, Project, Relation, TASK, TEAM } from './records.js';
import { changedTo } from './tasks.js';

const NOTE = {
  note_id: '0197a000-0000-7000-8000-000000000006',
  title: 'What we decided on Monday',
  team_id: TEAM,
  project_id: TASK.project_id,
  kind: 'note',
};
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
  task_count: 14,
  done_count: 0,
  snapshot: null,
};
const FIGURES = { committed: 12, added: 2, completed: 9, carried_over: 5, points: { committed: 40, completed: 31 }, days: [] };
const RELATION = {
  relation_id: '0197a000-0000-7000-8000-000000000007',
  source_id: TASK.task_id,
  target_id: NOTE.note_id,
  relation_type: 'related_to',
};
const MEMBER = { project_id: null, member: { user_id: PERSON, role: 'member' } };

const about = { project: Project, changes: Changes };

export const projectEvents = {
  'project.created': stored({
    payload: about,
    trigger: 'A project is created',
    past: 'A project was created',
    webhook: true,
    sample: { project: PROJECT, changes: {} },
  }),
  'project.updated': stored({
    payload: about,
    trigger: 'A project is changed in any way',
    past: 'A project was changed',
    webhook: 'A project was changed in any way',
    sample: { project: PROJECT, ...changed('name', 'Gemini', 'Apollo') },
  }),
  'project.status_changed': derived({
    of: { 'project.updated': (payload) => changedTo(payload, 'status') !== undefined },
    trigger: 'The status of a project changes',
    past: 'The status of a project changed',
    webhook: true,
    sample: {
      type: 'project.updated',
      project: { ...PROJECT, status: 'completed' },
      ...changed('status', 'active', 'completed'),
    },
  }),
  'project.deleted': stored({
    payload: { project: Project, cascade_id: z.uuid() },
    trigger: 'A project is moved to the trash',
    past: 'A project was moved to the trash',
    webhook: true,
    sample: { project: PROJECT, cascade_id: CASCADE },
  }),
  'project.restored': stored({
    payload: { ...about, cascade_id: z.uuid() },
    trigger: 'A project is restored from the trash',
    past: 'A project was restored from the trash',
    webhook: true,
    sample: { project: PROJECT, changes: {}, cascade_id: CASCADE },
  }),
  'relation.created': stored({
    payload: { relation: Relation },
    trigger: 'Two items are related',
    past: 'Two items were related',
    sample: { relation: RELATION },
  }),
  'note.created': stored({
    payload: { note: Note },
    trigger: 'A note is created',
    past: 'A note was created',
    webhook: true,
    sample: { note: NOTE },
  }),
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
  'team.member_added': stored({
    payload: { member: Member },
    trigger: 'Someone joins the team',
    past: 'Someone joined the team',
    webhook: true,
    sample: MEMBER,
  }),
  'team.member_removed': stored({
    payload: { member: Member },
    trigger: 'Someone leaves the team',
    past: 'Someone left the team',
    webhook: true,
    sample: MEMBER,
  }),
};

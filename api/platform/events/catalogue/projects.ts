import { z } from 'zod';
import { derived, stored } from '../declare.js';
import { CASCADE, changed, Changes, changedTo, PROJECT, Project } from './shapes.js';

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
};

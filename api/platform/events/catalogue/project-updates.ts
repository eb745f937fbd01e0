import { stored } from '../declare.js';
import { PROJECT, Project, ProjectUpdate } from './shapes.js';

export const projectUpdateEvents = {
  'project_update.created': stored({
    payload: { update: ProjectUpdate, project: Project },
    trigger: 'Someone posts an update of a project',
    past: 'Someone posted an update of a project',
    webhook: true,
    sample: {
      update: {
        update_id: '0197a000-0000-7000-8000-000000000016',
        project_id: PROJECT.project_id,
        health: 'at_risk',
        content: 'The antenna comes late',
      },
      project: { ...PROJECT, health: 'at_risk' },
    },
  }),
};

import { createAutomation } from '../../../automation/definitions/create-automation.js';
import { updateAutomation } from '../../../automation/definitions/update-automation.js';
import { UpdateAutomation } from '../../../automation/definitions/schema.js';
import { isAllowed } from '../../../platform/access/access.js';
import { notFound } from '../../../platform/errors.js';
import type { Write } from './batch.js';
import { given } from './given.js';
import { knownRecords } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { placesOfProjects } from './projects-of-team.js';

/** Writes automations, disabled and as the importer's: a person looks at them before they act. */
export const writeAutomations: Write = async (batch, rows) => {
  const { refs, result, seat } = batch;
  const mayProtect = isAllowed('automation.protect', seat);
  const projects = rows.map(({ record }) => record['project_id'] as string | null | undefined);
  await refs.load(['project'], projects);
  const live = await placesOfProjects({ ...batch, project_id: null }, projects);
  const resolveProject = (ref: string | null | undefined): string | null => {
    if (ref == null) return null;
    const id = refs.getId(['project'], ref);
    if (!live.has(id)) throw notFound('Project');
    return id;
  };
  return writeOneByOne(batch, rows, {
    kind: 'automation',
    name: 'automation',
    getRef: ({ automation_id }) => automation_id,
    getType: () => 'automation',
    find: (ids) => knownRecords(batch.ctx, 'automation', batch.team_id, ids),
    async create(ctx, row, id) {
      const { automation_id: _ref, project_id, is_protected, ...automation } = row.record;
      const protects = is_protected === true && mayProtect;
      await createAutomation(
        ctx,
        {
          ...automation,
          team_id: batch.team_id,
          project_id: resolveProject(project_id),
          is_active: false,
          is_protected: protects,
        },
        id,
      );
      if (is_protected && !protects) result.noted(row, 'The automation is not protected: only an admin may protect one');
      return { id, isNew: true };
    },
    async update(ctx, { record }, id) {
      const { team_id: _team, project_id: _project, is_protected: _protected, ...fields } = given(UpdateAutomation, record);
      const place = record.project_id === undefined ? {} : { project_id: resolveProject(record.project_id) };
      await updateAutomation(ctx, id, { ...fields, ...place, is_active: false });
      return true;
    },
  });
};

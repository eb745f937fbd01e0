import { Project } from '../../../../db/models/project.js';
import { pickFreeFields, freeFieldsWriter, insertFreeFields } from '../../../work/items/free-fields.js';
import { createProject } from '../../../work/projects/create-project.js';
import { UpdateProject } from '../../../work/projects/schema.js';
import { updateProject } from '../../../work/projects/update-project.js';
import type { Batch, Write } from './batch.js';
import { given } from './given.js';
import { knownItems } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';

/** Writes projects into the team of the import. */
export const writeProjects: Write = (batch: Batch, rows) =>
  writeOneByOne(batch, rows, {
    kind: 'project',
    name: 'project',
    getRef: ({ project_id }) => project_id,
    getType: () => 'project',
    find: (ids) => knownItems(batch.ctx, batch.team_id, ids),
    async create(ctx, { record }, id) {
      const { project_id: _ref, fields, ...project } = record;
      const free = pickFreeFields('project', { fields });
      await createProject(ctx, { ...project, team_id: batch.team_id }, id);
      await insertFreeFields(ctx, id, free);
      return { id, isNew: true };
    },
    async update(ctx, { record }, id) {
      const { fields } = record;
      const before = await Project.query(ctx.db).findById(id);
      const beside = fields == null ? undefined : freeFieldsWriter(id, pickFreeFields('project', { fields }));
      await updateProject(ctx, id, given(UpdateProject, record), { beside });
      return (await Project.query(ctx.db).findById(id))?.version !== before?.version;
    },
  });

import { Membership } from '../../../../db/models/membership.js';
import { Project } from '../../../../db/models/project.js';
import { isUuid } from '../../../platform/ids.js';
import { pickFreeFields, freeFieldsWriter, insertFreeFields } from '../../../work/items/free-fields.js';
import { createProject } from '../../../work/projects/create-project.js';
import { UpdateProject } from '../../../work/projects/schema.js';
import { updateProject } from '../../../work/projects/update-project.js';
import type { Batch, Row, Write } from './batch.js';
import { given } from './given.js';
import { knownItems } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { shown } from '../importers/foreign.js';

/** Returns the record without a lead who is no member of the team: a project that has a lead keeps them. The operation locks the membership. */
async function withLead({ ctx, team_id, result }: Batch, row: Row<'project'>) {
  const { lead_id, ...record } = row.record;
  if (lead_id == null) return row.record;
  const isMember = isUuid(lead_id) && (await Membership.query(ctx.db).findById([team_id, lead_id])) !== undefined;
  if (isMember) return row.record;
  result.noted(row, `The lead ${shown(lead_id)} is no member of the team`);
  return record;
}

/** Writes projects into the team of the import. */
export const writeProjects: Write = (batch: Batch, rows) =>
  writeOneByOne(batch, rows, {
    kind: 'project',
    name: 'project',
    getRef: ({ project_id }) => project_id,
    getType: () => 'project',
    find: (ids) => knownItems(batch.ctx, batch.team_id, ids),
    async create(ctx, row, id) {
      const { project_id: _ref, fields, ...project } = await withLead({ ...batch, ctx }, row);
      const free = pickFreeFields('project', { fields });
      await createProject(ctx, { ...project, team_id: batch.team_id }, id);
      await insertFreeFields(ctx, id, free);
      return { id, isNew: true };
    },
    async update(ctx, row, id) {
      const record = await withLead({ ...batch, ctx }, row);
      const { fields } = record;
      const before = await Project.query(ctx.db).findById(id);
      const beside = fields == null ? undefined : freeFieldsWriter(id, pickFreeFields('project', { fields }));
      await updateProject(ctx, id, given(UpdateProject, record), { beside });
      return (await Project.query(ctx.db).findById(id))?.version !== before?.version;
    },
  });

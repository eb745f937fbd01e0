import { version } from 'uuid';
import { ProjectUpdate } from '../../../../db/models/project-update.js';
import { invalid, notFound } from '../../../platform/errors.js';
import { newId } from '../../../platform/ids.js';
import { editUpdate } from '../../../work/projects/updates/edit-update.js';
import { postUpdate } from '../../../work/projects/updates/post-update.js';
import { EditProjectUpdate } from '../../../work/projects/updates/schema.js';
import type { Write } from './batch.js';
import { given } from './given.js';
import { knownRecords } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { placesOfProjects } from './projects-of-team.js';

/** Writes updates of projects, in the order of the file. Their author is the importer. */
export const writeUpdates: Write = async (batch, rows) => {
  const { refs } = batch;
  const projects = rows.map(({ record }) => record['project_id'] as string | null | undefined);
  await refs.load(['project'], projects);
  const live = await placesOfProjects(batch, projects);
  return writeOneByOne(batch, rows, {
    kind: 'project_update',
    name: 'update',
    getRef: ({ update_id }) => update_id,
    getType: () => 'project_update',
    find: (ids) => knownRecords(batch.ctx, 'project_update', batch.team_id, ids),
    async create(ctx, { record: { project_id: ref, health, content } }, id) {
      const projectId = ref == null ? batch.project_id : refs.getId(['project'], ref);
      if (projectId === null) throw invalid('project_id is required: neither the record nor the import names a project');
      if (!live.has(projectId)) throw notFound('Project');
      // Updates are ordered by their ids: only one that tells its time, and none of the future, is kept.
      const ownId = newId();
      const update_id = version(id) === 7 && id < ownId ? id : ownId;
      await postUpdate(ctx, projectId, { health, content }, update_id);
      return { id: update_id, isNew: true };
    },
    async update(ctx, { record }, id) {
      const before = await ProjectUpdate.query(ctx.db).findById(id);
      const after = await editUpdate(ctx, id, given(EditProjectUpdate, record));
      return before?.health !== after.health || before.content !== after.content;
    },
  });
};

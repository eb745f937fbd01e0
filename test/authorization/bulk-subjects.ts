import { Readable } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { fileStore } from '../../api/work/items/files/store/file-store.js';
import { newObjectKey } from '../../api/work/items/files/store/object-store.js';
import type { Subject } from './subjects.js';
import type { Tenant, World } from './world.js';

interface Wish {
  tenant: Tenant;
  author: string;
}
type Build = (world: World, wish: Wish) => Promise<Subject>;

const jobAs =
  (columns: (world: World, canary: string) => Promise<Record<string, unknown>>): Build =>
  async (world, { tenant, author }) => {
    const id = uuidv7();
    const canary = `canary ${id}`;
    const { team_id, project_id } = tenant;
    await world.app.services.db('bulk_jobs').insert({
      job_id: id,
      team_id,
      kind: 'export',
      format: 'json',
      options: { entities: ['tasks'], project_ids: null },
      requested_by: author,
      correlation_id: id,
      ...(await columns(world, canary)),
    });
    return { id, team_id, project_id, task_id: '', user_id: tenant.colleague.user_id, canary };
  };

/** An export that has ended, with its file. */
const exported = jobAs(async ({ app }, canary) => {
  const object_key = newObjectKey();
  const bytes = Buffer.from(JSON.stringify(canary));
  await fileStore(app.services.config).put(object_key, Readable.from([bytes]));
  const now = new Date();
  return {
    status: 'succeeded',
    waiting_since: null,
    finished_at: now,
    object_key,
    size: bytes.length,
    sha256: 'a'.repeat(64),
    expires_at: new Date(now.getTime() + 60_000),
    // A code of ours; here it shows who may read the job.
    error_code: canary,
  };
});

/** An import that has ended. */
const imported = jobAs(async (_world, canary) => ({
  kind: 'import',
  options: { on_conflict: 'error', project_id: null, file_id: null },
  status: 'succeeded',
  waiting_since: null,
  finished_at: new Date(),
  error_code: canary,
}));

/** An upload for an import. */
const bulkUpload: Build = async ({ app }, { tenant, author }) => {
  const id = uuidv7();
  const { team_id, project_id } = tenant;
  const object_key = newObjectKey();
  await fileStore(app.services.config).put(object_key, Readable.from([Buffer.from('{}')]));
  await app.services.db('bulk_uploads').insert({
    file_id: id,
    team_id,
    uploaded_by: author,
    size: 2,
    sha256: 'a'.repeat(64),
    object_key,
    expires_at: new Date(Date.now() + 60_000),
  });
  return { id, team_id, project_id, task_id: '', user_id: tenant.colleague.user_id, canary: `canary ${id}` };
};

export const bulkSubjects = {
  imported,
  bulkUpload,
  exported,
  waitingJob: jobAs(async (_world, canary) => ({ error_code: canary })),
};

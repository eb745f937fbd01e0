import { Readable } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { fileStore } from '../../api/work/items/files/store/file-store.js';
import { newObjectKey } from '../../api/work/items/files/store/object-store.js';
import type { Subject } from './subjects.js';
import type { Tenant, World } from './world.js';

interface Wish {
  tenant: Tenant;
  trashed: boolean;
  author: string;
}
type Build = (world: World, wish: Wish) => Promise<Subject>;

/** An item of the table `items`, in the tenant's project. */
const stored =
  (type: 'note' | 'file' | 'whiteboard' | 'doc'): Build =>
  async (world, { tenant, trashed, author }) => {
    const id = uuidv7();
    const canary = `canary ${id}`;
    const { team_id, project_id } = tenant;
    await world.app.services.db.raw(
      /* sql */ `
      with key as (insert into item_keys values (:id, :type))
      insert into items (item_id, item_type, team_id, project_id, title, content, kind, created_by, deleted_at, deleted_by, cascade_id)
        values (:id, :type, :team_id, :project_id, :canary, :canary, :kind, :author, case when :trashed then now() end,
          case when :trashed then :author::uuid end, case when :trashed then uuidv7() end)`,
      { id, type, kind: type === 'note' ? 'note' : null, team_id, project_id, canary, author, trashed } as never,
    );
    return { id, team_id, project_id, task_id: '', user_id: tenant.colleague.user_id, canary };
  };

/** A file with its bytes: its canary as JSON, so that a download reads like any other answer. */
const uploadedFile: Build = async (world, wish) => {
  const subject = await stored('file')(world, wish);
  const { db, config } = world.app.services;
  const object_key = newObjectKey();
  await fileStore(config).put(object_key, Readable.from([Buffer.from(JSON.stringify(subject.canary))]));
  const bytes = { size: subject.canary.length + 2, content_type: 'application/json', sha256: 'a'.repeat(64), object_key };
  await db('files').insert({ item_id: subject.id, ...bytes });
  return subject;
};

/** The same in the trash. */
const inTrash =
  (build: Build): Build =>
  (world, wish) =>
    build(world, { ...wish, trashed: true });

export const itemSubjects = {
  note: stored('note'),
  uploadedFile,
  whiteboard: stored('whiteboard'),
  trashedNote: inTrash(stored('note')),
  trashedFile: inTrash(stored('file')),
  trashedWhiteboard: inTrash(stored('whiteboard')),
  trashedDoc: inTrash(stored('doc')),
};

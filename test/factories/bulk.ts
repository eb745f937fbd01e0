import { Readable } from 'node:stream';
import { v7 as uuidv7 } from 'uuid';
import { fileStore } from '../../api/work/items/files/store/file-store.js';
import { newObjectKey } from '../../api/work/items/files/store/object-store.js';
import type { TestApp } from '../support/app.js';
import type { TestTeam } from './people.js';

/** A job that has ended, with one failed line; returns its id. `content`: of its file, if it has one. */
export async function buildBulkJob(
  app: TestApp,
  team: TestTeam,
  { content, message = 'title is required', ...fields }: Record<string, unknown> & { content?: string; message?: string } = {},
): Promise<string> {
  const { db, config } = app.services;
  const job_id = uuidv7();
  const object_key = content === undefined ? null : newObjectKey();
  const bytes = Buffer.from(content ?? '');
  if (object_key) await fileStore(config).put(object_key, Readable.from([bytes]));
  await db('bulk_jobs').insert({
    job_id,
    team_id: team.team_id,
    kind: object_key ? 'export' : 'import',
    format: 'ndjson',
    status: 'succeeded',
    waiting_since: null,
    finished_at: new Date(),
    total: 3,
    processed: 3,
    failed: 1,
    requested_by: team.manager.user_id,
    correlation_id: job_id,
    ...(object_key ? { object_key, size: bytes.length, sha256: 'a'.repeat(64), expires_at: new Date(Date.now() + 60_000) } : {}),
    ...fields,
  });
  await db('bulk_rows').insert({ job_id, line: 2, part: 0, entity: 'task', outcome: 'failed', message });
  return job_id;
}

/** A file of Linear with one issue, whose words are `text`, as an upload of the team. Returns its id. `known`: an upload whose file it becomes instead. */
export async function buildLinearUpload(app: TestApp, team: TestTeam, text: string, known?: string): Promise<string> {
  const { db, config } = app.services;
  const cell = `"${text.replaceAll('"', '""')}"`;
  const bytes = Buffer.from(`ID,Title,Status,${cell}\nENG-1,${cell},Done,x\n`);
  const input = { object_key: newObjectKey(), size: bytes.length, sha256: 'a'.repeat(64) };
  await fileStore(config).put(input.object_key, Readable.from([bytes]));
  if (known !== undefined) await db('bulk_uploads').where({ file_id: known }).update(input);
  const file_id = known ?? uuidv7();
  const expires_at = new Date(Date.now() + 3_600_000);
  const row = { ...input, file_id, team_id: team.team_id, uploaded_by: team.manager.user_id, expires_at };
  if (known === undefined) await db('bulk_uploads').insert(row);
  return file_id;
}

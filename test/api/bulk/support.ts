import { request } from 'undici';
import { openExportDatabase } from '../../../activities/bulk.js';
import { runExport } from '../../../api/bulk/export/run-export.js';
import type { RequestExport } from '../../../api/bulk/schema.js';
import type { Person } from '../../factories/people.js';
import type { TestApp } from '../../support/app.js';

/** Requests an export as this person; returns the job's id. */
export async function requestExport(app: TestApp, person: Person, wanted: Partial<RequestExport>): Promise<string> {
  const { status, body } = await app.as(person).post('/api/bulk/export', { format: 'ndjson', ...wanted });
  if (status !== 202) throw new Error(JSON.stringify(body));
  return body.job_id as string;
}

/** The activity of an export, without Temporal. `use` ends with the pool closed. */
export function createExporter(app: TestApp) {
  const exportDb = openExportDatabase(app.database.url);
  return {
    write: (jobId: string, signal = new AbortController().signal) =>
      runExport(app.services, jobId, { exportDb, heartbeat: () => undefined, signal }),
    close: () => exportDb.destroy(),
  };
}

/** The bytes of a download, with its status and headers. */
export async function download(app: TestApp, person: { token: string }, jobId: string, headers: Record<string, string> = {}) {
  const response = await request(`${app.url}/api/bulk/jobs/${jobId}/download`, {
    headers: { authorization: `Bearer ${person.token}`, ...headers },
  });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, bytes };
}

/** The cells of a table (RFC 4180), by hand: a reader of its own, so that it shares no mistake with the writer. */
export function parseCsv(text: string): string[][] {
  const lines: string[][] = [];
  let cells: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quoted = /"((?:[^"]|"")*)"/y;
    quoted.lastIndex = at;
    const found = quoted.exec(text);
    const plain = /[^,\r\n"]*/y;
    plain.lastIndex = at;
    const cell = found?.[0] ?? plain.exec(text)?.[0] ?? '';
    cells.push(found ? (found[1] as string).replaceAll('""', '"') : cell);
    at += cell.length;
    if (text[at] === ',') at += 1;
    else if (text.startsWith('\r\n', at)) {
      lines.push(cells);
      cells = [];
      at += 2;
    } else throw new Error(`No separator at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`);
  }
  return lines;
}

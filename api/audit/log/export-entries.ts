import type { Readable } from 'node:stream';
import { defineStatement, run } from '../../../db/statement.js';
import { callerJson, type Context, inTransaction, requireUser } from '../../platform/context.js';
import { kindOfChange } from '../../platform/changes/make-change.sql.js';
import type { Reply } from '../../platform/endpoint/endpoint.js';
import { type ExportHead, type ExportProof, signExport } from '../export-proof.js';
import { sealChains } from '../seal-entries.js';
import { signingKey } from '../signing-keys.js';
import { streamed } from './correlate.js';
import { coveredTeams } from './covered-teams.js';
import { entriesCsv } from './entries-csv.js';
import type { EntryKey } from './entries.sql.js';
import { takeExportSlot } from './export-slots.js';
import { findEntries, streamRecords } from './find-entries.js';
import { resolveFilters, MAX_ENTRIES } from './filters.js';
import { readHeads } from './read-heads.js';
import type { ExportEntries } from './schema.js';

/** $1 = caller (jsonb), $2 = teams, $3 = details (jsonb). One entry a team; returns the first one's id. */
const recordStatement = defineStatement({
  name: 'record_audit_export',
  text: /* sql */ `
    select record_changes($1::jsonb, array_agg(make_change(team_id => t.team_id, severity => 'HIGH', details => $3::jsonb,
      ${kindOfChange({ feature: 'audit', action: 'export', entityType: 'audit_log' })}, entity_id => t.team_id::text))) as audit_id
    from unnest($2::uuid[]) as t(team_id)`,
});

/** Records the export in the log of each team, committed before an entry is read, so that a failed export leaves a trace too. */
async function recordExport(ctx: Context, teams: string[], details: unknown): Promise<string> {
  const [row] = await inTransaction(ctx, ({ db }) =>
    run<{ audit_id: string }>(db, recordStatement, [JSON.stringify(callerJson(ctx)), teams, JSON.stringify(details)]),
  );
  return row?.audit_id as string;
}

function firstSequences(keys: readonly EntryKey[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const { team_id, sequence } of keys) first.set(team_id, Math.min(sequence, first.get(team_id) ?? sequence));
  return first;
}

/** Writes the export as JSON: the signed head, then the entries. */
async function* exportJson(ctx: Context, head: ExportHead, proof: ExportProof, keys: readonly EntryKey[]) {
  yield `${JSON.stringify({ ...head, proof }).slice(0, -1)},"data":[`;
  yield* streamRecords(ctx, keys);
  yield ']}';
}

/** A recorded and signed export, whose entries are read while it is sent. */
interface ExportStart {
  head: ExportHead;
  proof: ExportProof;
  keys: EntryKey[];
}

async function startExport(ctx: Context, { format, ...given }: ExportEntries): Promise<ExportStart> {
  const teams = await coveredTeams(ctx, given.team_id);
  const filters = resolveFilters(given);
  const audit_id = await recordExport(ctx, teams, { format, filters });
  await sealChains(ctx.db, teams);
  const heads = await readHeads(ctx.db, teams);
  const lasts = heads.map(({ last_sequence }) => last_sequence);
  const keys = await findEntries(ctx, { teams, filters }, { limit: MAX_ENTRIES, offset: 0, heads: lasts });
  const first = firstSequences(keys);
  const chain = heads.map((head) => ({ ...head, first_sequence: first.get(head.team_id) ?? null }));
  const head = { format, record_count: keys.length, exported_at: new Date().toISOString(), audit_id, filters, chain };
  const proof = signExport(
    signingKey(ctx.config),
    head,
    keys.map(({ entry_hash }) => entry_hash),
  );
  // The log is kept outside of the database, so it tells later which heads were signed.
  ctx.log.info({ audit_export: { audit_id, chain, proof } }, 'Audit export');
  return { head, proof, keys };
}

/**
 * Exports the newest 10,000 matching entries of the teams that the caller administers, with the state of their chains and a signature. A HIGH
 * entry in the log of each team records it first. `write` turns a started export into its response.
 * @throws PERMISSION_DENIED; INVALID_REQUEST for a search that takes too long; INTERNAL_ERROR 503 while the caller's other exports run
 */
async function exportAs(
  ctx: Context,
  wanted: ExportEntries,
  write: (started: ExportStart) => Reply<Readable>,
): Promise<Reply<Readable>> {
  const release = await takeExportSlot(requireUser(ctx));
  try {
    const reply = write(await startExport(ctx, wanted));
    reply.body.once('close', release);
    return reply;
  } catch (error) {
    release();
    throw error;
  }
}

/** Exports entries as JSON that anybody can verify. @throws as `exportAs` */
export const exportEntries = (ctx: Context, wanted: ExportEntries): Promise<Reply<Readable>> =>
  exportAs(ctx, wanted, ({ head, proof, keys }) => streamed(exportJson(ctx, head, proof, keys)));

/** Exports entries as a table for a spreadsheet; it has no signature. @throws as `exportAs` */
export const exportTable = (ctx: Context, wanted: Omit<ExportEntries, 'format'>): Promise<Reply<Readable>> =>
  exportAs(ctx, { ...wanted, format: 'csv' }, ({ keys }) =>
    streamed(entriesCsv(streamRecords(ctx, keys)), { 'Content-Type': 'text/csv; charset=utf-8' }),
  );

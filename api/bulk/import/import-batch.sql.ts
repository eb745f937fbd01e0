import { defineStatement } from '../../../db/statement.js';

/** $1 = job id. A prepared import, whatever its state; `prepared_key` is the object with its rows. */
export const importToWriteStatement = defineStatement({
  name: 'import_to_write',
  text: /* sql */ `
    select j.job_id, j.team_id, j.format, j.options, j.status, j.correlation_id, j.requested_by, u.email, u.role, u.status = 'active' as is_active, j.attempt, j.object_key, j.created_at,
      (j.cursor->>'chunk')::integer as chunk, (j.cursor->>'chunks')::integer as chunks, j.cursor->>'prepared_key' as prepared_key
    from bulk_jobs j join users u on u.user_id = j.requested_by where j.job_id = $1 and j.kind = 'import'`,
});

/** $1 = `quiet` or `loud`. Says to the rest of the transaction that an import writes it: whether its events start automations; it tells nobody. */
export const markImportStatement = defineStatement({ name: 'mark_import', text: "select set_config('assent.import', $1, true)" });

/** $1 = job id, $2 = first chunk, $3 = their number. */
export const chunksStatement = defineStatement({
  name: 'chunks_of_import',
  text: /* sql */ `
    select c.chunk, c.kind, c.byte_from::float8 as byte_from, c.byte_to::float8 as byte_to, c.rows from bulk_chunks c
    where c.job_id = $1 and c.chunk >= $2 and c.chunk < $2 + $3::integer order by c.chunk`,
});

/**
 * $1 = job id, $2 = chunk that was written, $3 = counts (jsonb), $4 = first notes (jsonb), $5 = rows of `bulk_rows` (jsonb), $6 = most notes of a
 * job. Moves the job on to the next chunk and stores what became of the rows, in the transaction that wrote them. No row: the job has ended,
 * or another attempt has written the chunk; then nothing of the transaction may stay.
 */
export const finishChunkStatement = defineStatement({
  name: 'finish_chunk_of_import',
  text: /* sql */ `
    with moved as (
      update bulk_jobs j set cursor = j.cursor || jsonb_build_object('chunk', $2::integer + 1),
        processed = j.processed + c.processed, created = j.created + c.created, updated = j.updated + c.updated,
        skipped = j.skipped + c.skipped, failed = j.failed + c.failed, noted = j.noted + c.noted,
        notes = case when jsonb_array_length(j.notes) >= $6::integer then j.notes else
          (select coalesce(jsonb_agg(n.note order by n.at), '[]') from (
            select note, at from jsonb_array_elements(j.notes || $4::jsonb) with ordinality as e(note, at) order by at limit $6::integer
          ) n) end
      from jsonb_to_record($3::jsonb)
        as c(processed integer, created integer, updated integer, skipped integer, failed integer, noted integer)
      where j.job_id = $1 and j.status = 'running' and (j.cursor->>'chunk')::integer = $2::integer
      returning j.job_id
    ), stored as (
      insert into bulk_rows (job_id, line, part, entity, ref, item_id, outcome, message)
      select m.job_id, r.line, r.part, r.entity, r.ref, r.item_id, r.outcome, r.message
      from moved m, jsonb_to_recordset($5::jsonb)
        as r(line integer, part integer, entity text, ref text, item_id text, outcome text, message text)
      on conflict (job_id, line, part) do nothing
    )
    select job_id from moved`,
});

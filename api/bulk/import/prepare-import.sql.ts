import { defineStatement } from '../../../db/statement.js';

/**
 * $1 = job id, $2 = attempt, $3 = key of the prepared object, $4 = chunks (jsonb), $5 = counts (jsonb: total, failed, noted), $6 = first notes
 * (jsonb), $7 = first errors (jsonb). Stores what a preparation has found. No row: the job has ended, or a later attempt prepares it.
 */
export const storePreparedStatement = defineStatement({
  name: 'store_prepared_import',
  text: /* sql */ `
    with prepared as (
      update bulk_jobs j set total = c.total, processed = c.failed, failed = c.failed, noted = c.noted, notes = $6::jsonb,
        cursor = jsonb_build_object('chunk', 0, 'chunks', jsonb_array_length($4::jsonb), 'prepared_key', $3::text)
      from jsonb_to_record($5::jsonb) as c(total integer, failed integer, noted integer)
      where j.job_id = $1 and j.attempt = $2::integer and j.status = 'running' and j.cursor is null
      returning j.job_id
    ), chunks as (
      insert into bulk_chunks (job_id, chunk, kind, byte_from, byte_to, rows)
      select p.job_id, c.chunk, c.kind, c.byte_from, c.byte_to, c.rows
      from prepared p, jsonb_to_recordset($4::jsonb)
        as c(chunk integer, kind text, byte_from bigint, byte_to bigint, rows integer)
    ), failures as (
      insert into bulk_rows (job_id, line, part, entity, outcome, message)
      select p.job_id, e.line, -1, e.entity, 'failed', e.message
      from prepared p, jsonb_to_recordset($7::jsonb) as e(line integer, entity text, message text)
      on conflict (job_id, line, part) do nothing
    )
    select job_id from prepared`,
});

/** $1 = job id, $2 = line, $3 = message. Stores why an input cannot be read on. */
export const storeProblemStatement = defineStatement({
  name: 'store_problem_of_import',
  text: /* sql */ `
    insert into bulk_rows (job_id, line, part, outcome, message) values ($1, $2, -1, 'failed', $3)
    on conflict (job_id, line, part) do nothing`,
});

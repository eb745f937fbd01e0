import { defineStatement } from '../../db/statement.js';

/** $1 = process, $2 = details (jsonb). */
export const beatStatement = defineStatement({
  name: 'beat',
  text: /* sql */ `
    insert into heartbeats (process, seen_at, details) values ($1, now(), $2::jsonb)
    on conflict (process) do update set seen_at = excluded.seen_at, details = excluded.details`,
});

/** Deletes the heartbeats of processes that ended. */
export const deleteEndedStatement = defineStatement({
  name: 'delete_ended_heartbeats',
  text: "delete from heartbeats where seen_at < now() - interval '1 hour'",
});

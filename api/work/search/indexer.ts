import type { Knex } from 'knex';
import { defineStatement, run } from '../../../db/statement.js';
import { NO_ID } from '../../platform/fields.js';
import { type DrainLimits, drainMarks } from './index-marks.js';

/** Teams of one pass; the next one continues behind the last. */
const MAX_TEAMS = 100;
/** Limits of one pass over a team: short, so that one team's backlog does not delay the others. */
const TEAM_LIMITS: DrainLimits = { maxMarks: 200, maxMs: 500, lockTimeoutMs: 0 };

/** $1 = team id to start after, $2 = maximum teams. */
const behindStatement = defineStatement({
  name: 'search_teams_behind',
  text: 'select team_id from search_teams_behind($1::uuid, $2::int) as team_id',
});
const cleanStatement = defineStatement({ name: 'search_clean', text: 'select search_clean()' });

/**
 * Returns a function that indexes the marks of all teams in turns, and returns a positive number if more remain than one pass takes. Any
 * number of workers may call it: a team that another session indexes is left to it. A team that fails does not stop the others.
 */
export function createIndexer(db: Knex): () => Promise<number> {
  let after = NO_ID;
  return async () => {
    const teams = await run<{ team_id: string }>(db, behindStatement, [after, MAX_TEAMS]);
    const isFull = teams.length === MAX_TEAMS;
    after = isFull ? (teams.at(-1)?.team_id as string) : NO_ID;
    let more = isFull ? 1 : 0;
    const errors: unknown[] = [];
    for (const { team_id } of teams) {
      try {
        const { indexed, behind } = await drainMarks(db, [team_id], TEAM_LIMITS);
        if (behind) more += indexed;
      } catch (error) {
        errors.push(error);
      }
    }
    // Also after a pass without marks: searches index too, and leave the list of new entries to the worker.
    await run(db, cleanStatement, []);
    if (errors.length > 0) throw errors[0];
    return more;
  };
}

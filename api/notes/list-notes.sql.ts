import type { Statement } from '../../db/statement.js';

const COLUMNS = /* sql */ `i.item_id as note_id, i.title, i.team_id, i.project_id, i.kind, i.created_by, i.created_at, i.updated_at,
  i.version`;

/** The content is read only to look for a text in it. */
const CONTAINS = /* sql */ `and (position(lower($5::text) in lower(i.title)) > 0 or position(lower($5::text) in lower(i.content)) > 0)`;

const notesOf = (place: string, matches: string): string => /* sql */ `
  select ${COLUMNS} from items i where ${place} and i.item_type = 'note' and i.deleted_at is null ${matches}
  order by i.created_at, i.item_id`;

/**
 * Notes of the caller's teams, oldest first. $1 = caller id, $2 = team id or null, $3 = limit, $4 = offset, $5 = text to find. Reads the
 * first notes of each team in the order of the index, then the first of them all.
 */
const ofTeams = (name: string, matches: string): Statement => ({
  name,
  text: /* sql */ `
    with seats as materialized (
      select m.team_id from memberships m where m.user_id = $1 and ($2::uuid is null or m.team_id = $2)
    )
    select n.* from seats cross join lateral (${notesOf('i.team_id = seats.team_id', matches)} limit $3::bigint + $4::bigint) n
    order by n.created_at, n.note_id limit $3 offset $4`,
});

/** Notes of one project whose team the caller may read. $1 = caller id, $2 = project id, $3 to $5 as above. */
const ofProject = (name: string, matches: string): Statement => ({
  name,
  text: /* sql */ `
    select n.* from (select p.project_id from projects p where p.project_id = $2 and p.team_id in (
      select m.team_id from memberships m where m.user_id = $1)) place
    cross join lateral (${notesOf('i.project_id = place.project_id', matches)} limit $3 offset $4) n`,
});

/** Separate statements with and without a text: only one reads the content. */
export const noteStatements = {
  teams: { all: ofTeams('list_notes', ''), matching: ofTeams('list_matching_notes', CONTAINS) },
  project: { all: ofProject('list_notes_of_project', ''), matching: ofProject('list_matching_notes_of_project', CONTAINS) },
};

import { defineStatement, type Statement } from '../../../../db/statement.js';

const COLUMNS = /* sql */ `i.item_id as note_id, i.title, i.team_id, i.project_id, i.kind, i.created_by, i.created_at, i.updated_at,
  i.version`;

/** Bytes of content that one search for a text reads (docs/decisions/work.md#text-of-notes). */
const MAX_SEARCHED_BYTES = 16 * 1024 * 1024;

const LIVE_NOTES = `i.item_type = 'note' and i.deleted_at is null`;
const OLDEST_FIRST = 'order by i.created_at, i.item_id';

/** Teams of the caller. $1 = caller id, $2 = team id or null. */
const SEATS = `select m.team_id from memberships m where m.user_id = $1 and ($2::uuid is null or m.team_id = $2)`;
/** One project whose team the caller may read. $1 = caller id, $2 = project id. */
const PROJECT = `select p.project_id from projects p where p.project_id = $2 and p.team_id in (select m.team_id from memberships m where m.user_id = $1)`;

/**
 * Live notes, oldest first; $3 = limit, $4 = offset. Reads the first notes of each place in the order of the index, then the first of them
 * all.
 */
const all = (name: string, places: string, place: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    with places as materialized (${places})
    select n.*, false as cut from places cross join lateral (
      select ${COLUMNS} from items i where i.${place} = places.${place} and ${LIVE_NOTES} ${OLDEST_FIRST} limit $3::bigint + $4::bigint
    ) n
    order by n.created_at, n.note_id limit $3 offset $4`,
  });

/**
 * The same with $5 = text to find in title or content. Contents are read up to a sum of bytes, which is known without reading them; \`cut\`
 * tells that later notes were left out. Always returns a row, without a note if none matches.
 */
const matching = (name: string, places: string, place: string): Statement =>
  defineStatement({
    name,
    text: /* sql */ `
    with places as materialized (${places}), sized as materialized (
      select i.item_id, i.created_at, sum(octet_length(coalesce(i.content, ''))) over (${OLDEST_FIRST}) as bytes
      from places join items i on i.${place} = places.${place} where ${LIVE_NOTES}
    )
    select n.*, coalesce((select max(s.bytes) from sized s) > ${MAX_SEARCHED_BYTES}, false) as cut
    from (values (1)) once left join lateral (
      select ${COLUMNS} from sized s cross join lateral (
        select * from items i where i.item_id = s.item_id
          and (position(lower($5::text) in lower(i.title)) > 0 or position(lower($5::text) in lower(i.content)) > 0)
      ) i
      where s.bytes <= ${MAX_SEARCHED_BYTES} order by s.created_at, s.item_id limit $3 offset $4
    ) n on true
    order by n.created_at, n.note_id`,
  });

/** Statements with and without a text: only one reads the content. */
export const noteStatements = {
  teams: { all: all('list_notes', SEATS, 'team_id'), matching: matching('list_matching_notes', SEATS, 'team_id') },
  project: {
    all: all('list_notes_of_project', PROJECT, 'project_id'),
    matching: matching('list_matching_notes_of_project', PROJECT, 'project_id'),
  },
};

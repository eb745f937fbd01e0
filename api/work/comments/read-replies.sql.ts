import { defineStatement } from '../../../db/statement.js';

/** Maximum number of replies per response, the same as for tasks. */
export const MAX_REPLIES = 10_000;
/** Bytes of a reply as JSON beside its content and mentions, at most. */
const FRAME_BYTES = 500;

/**
 * $1 = task id, $2 = ids of comments, $3 = bytes of their replies as JSON. Selects the live replies, oldest first, one more than a response
 * has; `fits` tells whether a reply and all before it have room; the first one always has.
 */
export const repliesStatement = defineStatement({
  name: 'replies_of_comments',
  text: /* sql */ `
    select r.comment_id, r.place = 1 or r.bytes <= $3::bigint as fits from (
      select c.comment_id, c.created_at, row_number() over (order by c.created_at, c.comment_id) as place, sum(octet_length(to_json(c.content)::text) + 40 * cardinality(c.mentions) + ${FRAME_BYTES})
        over (order by c.created_at, c.comment_id) as bytes
      from comments c where c.task_id = $1 and c.parent_comment_id = any($2::uuid[]) and c.deleted_at is null
      order by c.created_at, c.comment_id limit ${MAX_REPLIES + 1}
    ) r order by r.created_at, r.comment_id`,
});

/** $1 = comment ids. */
export const readRepliesStatement = defineStatement({
  name: 'read_replies',
  text: /* sql */ `
    select comment_id, task_id, parent_comment_id, content, author_id, mentions, created_at, updated_at, edited, deleted_at
    from comments where comment_id = any($1) and deleted_at is null order by created_at, comment_id`,
});

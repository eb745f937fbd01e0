import { run } from '../../../db/statement.js';
import { isAllowed, type Seat } from '../../platform/access/access.js';
import type { Context } from '../../platform/context.js';
import { readLinksStatement } from './session.sql.js';
import type { LinkType } from './schema.js';

/** A linked item as it is now. */
export interface ReadableLink {
  item_type: LinkType;
  item_id: string;
  linked_at: Date;
  title: string;
  status: string;
  team_id: string;
  project_id: string | null;
}

/** Links of a session: what the user may still use, and what was lost since. */
export interface SessionLinks {
  readable: ReadableLink[];
  /** Items in the trash, deleted, or in teams in which the user may no longer write. */
  lost: { item_type: LinkType; item_id: string }[];
}

type Row = Omit<ReadableLink, 'title'> & { title: string | null; seat: Seat | null } & Record<string, unknown>;

/**
 * Reads the links of a session with the permissions of a user as they are now, so that no link outlives its access
 * (docs/decisions/agent.md#links-of-a-session).
 */
export async function readLinks({ db }: Pick<Context, 'db'>, sessionId: string, userId: string): Promise<SessionLinks> {
  const rows = await run<Row>(db, readLinksStatement, [sessionId, userId]);
  const readable: ReadableLink[] = [];
  const lost: SessionLinks['lost'] = [];
  for (const { seat, ...link } of rows) {
    const { item_type, item_id, title } = link;
    if (title !== null && isAllowed('agent.link', seat)) readable.push({ ...link, title });
    else lost.push({ item_type, item_id });
  }
  return { readable, lost };
}

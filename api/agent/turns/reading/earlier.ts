import { defineStatement, run } from '../../../../db/statement.js';
import type { Context } from '../../../platform/context.js';
import type { Answered } from '../../grammar/following/follow-up.js';
import type { PlanStatus } from '../../plans/schema.js';
import type { Mentioned } from '../end-turn.js';

/** Messages before one that tell what its “it” means, and what it goes on with. */
const EARLIER = 5;
/** A longer message says nothing of what “it” means: it would be read again with each that follows. */
const MAX_EARLIER = 2_000;

/** What a user wrote before a message, oldest first, with what was answered. */
export interface Earlier {
  messages: readonly string[];
  answers: readonly Answered[];
  /** Whether there may be more of them. */
  isCut: boolean;
  /** The last plan, while it waits. */
  waiting: string | null;
}
export const NOTHING_EARLIER: Earlier = { messages: [], answers: [], isCut: false, waiting: null };

interface Row extends Record<string, unknown> {
  content: string;
  mentions: Mentioned[] | null;
  action_id: string | null;
  status: PlanStatus | null;
  superseded_by: string | null;
  is_past: boolean;
}

/** $1 = session id, $2 = position of the message, $3 = row limit. What the user wrote before, oldest first, with the plans of the answers. */
const statement = defineStatement({
  name: 'rules_earlier_messages',
  text: /* sql */ `
    select m.content, a.mentions, a.action_id, p.status, p.superseded_by, coalesce(p.expires_at <= now(), false) as is_past from (
      select message_id, content, position from agent_messages
      where session_id = $1 and position < $2 and role = 'user' order by position desc limit $3
    ) m left join agent_messages a on a.answers = m.message_id left join agent_plans p on p.action_id = a.action_id
    order by m.position`,
});

/** How the plan of an answer stands; one that the next message replaced stood open when that was read. */
function planOf({ status, superseded_by, is_past }: Row, next: Row | undefined): Answered['plan'] {
  if (status === null) return null;
  if (status === 'staged') return is_past ? 'closed' : 'staged';
  if (superseded_by !== null) return superseded_by === next?.action_id ? 'staged' : 'edited';
  return status === 'applied' ? 'applied' : 'closed';
}

/** Reads what the user wrote before a message of a session, as far as no message is too long for that. */
export async function readEarlier({ db }: Pick<Context, 'db'>, sessionId: string, position: number): Promise<Earlier> {
  const rows = await run<Row>(db, statement, [sessionId, position, EARLIER]);
  const kept = rows.slice(rows.findLastIndex(({ content }) => content.length > MAX_EARLIER) + 1);
  const answers = kept.map((row, at) => ({
    plan: planOf(row, kept[at + 1]),
    named: (row.mentions ?? []).map(({ item_id: id, title }) => ({ id, title })),
  }));
  const at = kept.findLastIndex(({ action_id }) => action_id !== null);
  const waiting = answers[at]?.plan === 'staged' ? (kept[at]?.action_id ?? null) : null;
  return {
    messages: kept.map(({ content }) => content),
    answers,
    isCut: kept.length < rows.length || rows.length === EARLIER,
    waiting,
  };
}

import { Temporal } from 'temporal-polyfill';
import { defineStatement, run } from '../../../db/statement.js';
import type { Context } from '../../platform/context.js';
import { zoneNamed } from '../../platform/time-zones.js';
import { parseAll } from '../grammar/parse.js';
import type { Outcome } from '../grammar/outcome.js';
import { resolve, subjectsOf } from '../grammar/resolve.js';
import type { RuleWorld } from '../grammar/subjects.js';
import type { ReadableLink } from '../sessions/read-links.js';
import { findMembers } from './find-members.js';
import { type LinkedFacts, readFacts, toLinkedItem } from './linked-facts.js';

/** Messages before one that tell what its “it” means. */
const EARLIER = 3;

/** $1 = session id, $2 = position of the message, $3 = row limit. What the user wrote before, oldest first. */
const earlierStatement = defineStatement({
  name: 'rules_earlier_messages',
  text: /* sql */ `
    select content from (
      select content, position from agent_messages where session_id = $1 and position < $2 and role = 'user' order by position desc limit $3
    ) newest order by position`,
});

/** Who reads a message, and where. */
export interface Reader {
  userId: string;
  timezone: string;
}
/** A message that was read by the rules. */
export interface ReadByRules {
  outcome: Outcome;
  world: RuleWorld;
  facts: ReadonlyMap<string, LinkedFacts>;
}

/** The user's time zone, or UTC if it has none of that name. */
export const zoneOf = ({ timezone }: Pick<Reader, 'timezone'>): string => zoneNamed(timezone) ?? 'UTC';
/** YYYY-MM-DD where a user is. */
const todayIn = (reader: Pick<Reader, 'timezone'>): string => Temporal.Now.plainDateISO(zoneOf(reader)).toString();

/** Reads what the user wrote before a message of a session. */
export async function readEarlier({ db }: Pick<Context, 'db'>, sessionId: string, position: number): Promise<string[]> {
  const rows = await run<{ content: string }>(db, earlierStatement, [sessionId, position, EARLIER]);
  return rows.map(({ content }) => content);
}

/**
 * Reads a message by the grammar, with what is linked and who may be named.
 * @param earlier what the user wrote before, oldest first: it tells what “it” means
 */
export async function readByRules(
  ctx: Pick<Context, 'db'>,
  links: readonly ReadableLink[],
  reader: Reader,
  message: string,
  earlier: readonly string[] = [],
): Promise<ReadByRules> {
  const teamIds = links.length > 0 ? links.map(({ team_id }) => team_id) : null;
  const messages = [...earlier, message];
  const facts = links.length > 0 ? await readFacts(ctx, links, reader.userId) : new Map<string, LinkedFacts>();
  const people = await findMembers(ctx, reader.userId, teamIds, messages.toReversed().join('\n'));
  const items = links.map((link) => toLinkedItem(link, facts.get(link.item_id)));
  const world = { items, userId: reader.userId, people, today: todayIn(reader) };
  const read = parseAll(messages, world);
  const before = subjectsOf(read.slice(0, -1), world);
  return { outcome: resolve(read.at(-1) ?? [], world, before), world, facts };
}

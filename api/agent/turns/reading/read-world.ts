import { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.js';
import { zoneNamed } from '../../../platform/time-zones.js';
import { Beyond } from '../../grammar/beyond.js';
import type { Clause } from '../../grammar/clauses.js';
import { parseAll } from '../../grammar/following/conversation.js';
import type { Outcome } from '../../grammar/outcome.js';
import { resolve, subjectsOf } from '../../grammar/resolve.js';
import type { RuleWorld } from '../../grammar/subjects.js';
import { namesSet } from '../../grammar/want-unknown.js';
import type { ReadableLink } from '../../sessions/read-links.js';
import { findBeyond, findCovered } from './find-beyond.js';
import { findOwnWords } from './find-own-words.js';
import { type Earlier, NOTHING_EARLIER } from './earlier.js';
import { findMembers } from './find-members.js';
import { type LinkedFacts, readFacts, toLinkedItem } from './linked-facts.js';

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

/** Times that a message is read again with what was looked up: a second look-up finds what the first one made readable. */
const MAX_LOOKUPS = 2;

/** Reads messages, looks up what they name and what is not linked, and reads them again. */
async function readMessages(
  ctx: Pick<Context, 'db'>,
  links: readonly ReadableLink[],
  { messages: before, answers, isCut }: Earlier,
  message: string,
  world: RuleWorld,
): Promise<Clause[][]> {
  const { beyond, userId } = world;
  const parse = () => parseAll([...before, message], world, answers, isCut);
  let read = parse();
  if (!beyond) return read;
  const where = { userId, teamIds: links.map(({ team_id }) => team_id), linked: new Set(links.map(({ item_id }) => item_id)) };
  for (let round = 0; round < MAX_LOOKUPS; round += 1) {
    const phrases = beyond.takeWanted();
    const isCovering = beyond.coveredTasks === undefined && (phrases.length > 0 || read.flat().some(namesSet));
    if (phrases.length === 0 && !isCovering) break;
    if (isCovering) beyond.cover(await findCovered(ctx, userId, links));
    if (phrases.length > 0) await findBeyond(ctx, where, beyond, phrases);
    read = parse();
  }
  return read;
}

const linkedProjects = (links: readonly ReadableLink[]): Set<string> =>
  new Set(links.flatMap(({ item_type, item_id }) => (item_type === 'project' ? [item_id] : [])));

/**
 * Reads a message by the grammar, with what is linked and who may be named.
 * @param earlier what the user wrote before: it tells what “it” means
 * @param reach `teams`: what nothing linked fits is looked for among the tasks of the links' teams
 */
export async function readByRules(
  ctx: Pick<Context, 'db'>,
  links: readonly ReadableLink[],
  reader: Reader,
  message: string,
  { earlier = NOTHING_EARLIER, reach = 'linked' }: { earlier?: Earlier; reach?: 'linked' | 'teams' } = {},
): Promise<ReadByRules> {
  const teamIds = links.length > 0 ? links.map(({ team_id }) => team_id) : null;
  const facts = links.length > 0 ? await readFacts(ctx, links, reader.userId) : new Map<string, LinkedFacts>();
  const people = await findMembers(ctx, reader.userId, teamIds, [message, ...earlier.messages.toReversed()].join('\n'));
  const own = await findOwnWords(ctx, reader.userId, teamIds);
  const items = links.map((link) => toLinkedItem(link, facts.get(link.item_id)));
  const beyond = reach === 'teams' && links.length > 0 ? { beyond: new Beyond(linkedProjects(links)) } : {};
  const world = { items, userId: reader.userId, people, own, today: todayIn(reader), ...beyond };
  const read = await readMessages(ctx, links, earlier, message, world);
  const before = subjectsOf(read.slice(0, -1), world);
  return { outcome: resolve(read.at(-1) ?? [], world, before, read.at(-2) ?? []), world, facts };
}

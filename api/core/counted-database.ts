import type { Knex } from 'knex';
import type { Holder } from '../../db/connection-queue.js';
import { countedFor, poolOf } from '../../db/knex-internals.js';
import { run, type Statement } from '../../db/statement.js';
import type { Actor } from './actor.js';
import { createRowLoader } from './batching/batch-loader.js';
import type { Services } from './context.js';

/** $1 users: their seats. */
const teamsStatement: Statement = {
  name: 'authenticate_teams',
  text: 'select m.user_id, m.team_id from memberships m where m.user_id = any((select $1::uuid[])::uuid[])',
};

const teamsOf = createRowLoader(async (db, users: string[]) => {
  const rows = await run<{ user_id: string; team_id: string }>(db, teamsStatement, [[...new Set(users)]]);
  return users.map((user) => rows.filter(({ user_id }) => user_id === user).map(({ team_id }) => team_id));
});

/** A person's teams are read again after this, ms. They say what connections count for, never what a person may do. */
const STALE_MS = 60_000;
/** Persons whose teams a process remembers. */
const MAX_KNOWN = 5_000;

interface Known {
  holder: Holder;
  readAt: number;
  /** Made once for a person: making it changes a prototype, which is slow on every request. */
  db: Knex;
}

const knownOfPools = new WeakMap<Knex, Map<string, Known>>();

/** Reads the person's teams beside the request, never on its path; until they are known, connections count for the person. */
function learn(db: Knex, userId: string, known: Known): void {
  known.readAt = Date.now();
  const note = (teams: string[]): void => {
    known.holder = { person: userId, teams, turn: teams.toSorted()[0] ?? userId };
  };
  void teamsOf(db, userId)
    .then(note)
    .catch(() => {
      known.readAt = 0;
    });
}

function knownOf(db: Knex, userId: string): Known {
  let people = knownOfPools.get(db);
  if (!people) knownOfPools.set(db, (people = new Map<string, Known>()));
  let known = people.get(userId);
  if (!known) {
    // The oldest goes: it costs one small look-up when it comes again.
    if (people.size >= MAX_KNOWN) people.delete(people.keys().next().value as string);
    const made: Known = { holder: { person: userId, teams: [], turn: userId }, readAt: 0, db: countedFor(db, () => made.holder) };
    people.set(userId, (known = made));
  }
  if (Date.now() - known.readAt > STALE_MS) learn(db, userId, known);
  return known;
}

/**
 * The database as a request gets it: every connection that it holds counts for the caller and the caller's teams, or, where nobody
 * has signed in, for the caller's address (db/connection-queue.ts).
 */
export function countedDatabase(services: Pick<Services, 'db'>, actor: Actor, address: string): Knex {
  const db = poolOf(services.db);
  if (actor.type === 'system') {
    const visitor: Holder = { person: `address ${address}`, teams: [], turn: 'visitors' };
    return countedFor(db, () => visitor);
  }
  return knownOf(db, actor.userId).db;
}

const DELIVERIES: Holder = { person: null, teams: ['deliveries'], turn: 'deliveries' };

/** The database as deliveries of the code host get it: together they hold what a team may hold. */
export const databaseForDeliveries = (services: Pick<Services, 'db'>): Knex => countedFor(poolOf(services.db), () => DELIVERIES);

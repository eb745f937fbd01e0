import type { Knex } from 'knex';
import type { Holder } from '../../../db/connection-queue.js';
import { countedFor, wrapPool } from '../../../db/knex-internals.js';
import { defineStatement, run } from '../../../db/statement.js';
import type { Actor } from '../access/actor.js';
import { createRowLoader } from './batching/batch-loader.js';
import type { Services } from '../context.js';

/** $1 = user ids. Returns their teams. */
const teamsStatement = defineStatement({
  name: 'authenticate_teams',
  text: 'select m.user_id, m.team_id from memberships m where m.user_id = any((select $1::uuid[])::uuid[])',
});

const findTeams = createRowLoader(async (db, users: string[]) => {
  const rows = await run<{ user_id: string; team_id: string }>(db, teamsStatement, [[...new Set(users)]]);
  return users.map((user) => rows.filter(({ user_id }) => user_id === user).map(({ team_id }) => team_id));
});

/** Time after which a user's teams are read again, ms. Teams only decide whose connection quota is used, never permissions. */
const STALE_MS = 60_000;
/** Maximum number of users whose teams a process caches. */
const MAX_KNOWN = 5_000;

interface UserDatabase {
  holder: Holder;
  readAt: number;
  /** Created once per user: creating it changes a prototype, which would slow every request. */
  db: Knex;
}

const knownOfPools = new WeakMap<Knex, Map<string, UserDatabase>>();

/** Reads the user's teams in the background. Until they are known, connections count for the user alone. */
function refreshTeams(db: Knex, userId: string, known: UserDatabase): void {
  known.readAt = Date.now();
  const note = (teams: string[]): void => {
    known.holder = { person: userId, teams, fairnessKey: teams.toSorted()[0] ?? userId };
  };
  void findTeams(db, userId)
    .then(note)
    .catch(() => {
      known.readAt = 0;
    });
}

function cachedUser(db: Knex, userId: string): UserDatabase {
  let people = knownOfPools.get(db);
  if (!people) knownOfPools.set(db, (people = new Map<string, UserDatabase>()));
  let known = people.get(userId);
  if (!known) {
    // Evicts the oldest entry; reading it again costs one small lookup.
    if (people.size >= MAX_KNOWN) people.delete(people.keys().next().value as string);
    const made: UserDatabase = {
      holder: { person: userId, teams: [], fairnessKey: userId },
      readAt: 0,
      db: countedFor(db, () => made.holder),
    };
    people.set(userId, (known = made));
  }
  if (Date.now() - known.readAt > STALE_MS) refreshTeams(db, userId, known);
  return known;
}

const runnersOfPools = new WeakMap<Knex, Map<string, Knex>>();

/** All runners of a team together share the quota of one user. */
function databaseForRunners(db: Knex, teamId: string): Knex {
  let teams = runnersOfPools.get(db);
  if (!teams) runnersOfPools.set(db, (teams = new Map<string, Knex>()));
  let counted = teams.get(teamId);
  if (!counted) {
    if (teams.size >= MAX_KNOWN) teams.delete(teams.keys().next().value as string);
    const holder: Holder = { person: `runners ${teamId}`, teams: [teamId], fairnessKey: teamId };
    teams.set(teamId, (counted = countedFor(db, () => holder)));
  }
  return counted;
}

/**
 * Returns the database for a request. Its connections count for the caller and the caller's teams, or for the client's address when
 * nobody has signed in (db/connection-queue.ts).
 */
export function countedDatabase(services: Pick<Services, 'db'>, actor: Actor, address: string): Knex {
  const db = wrapPool(services.db);
  if (actor.type === 'system' && actor.runner) return databaseForRunners(db, actor.runner.team_id);
  if (actor.type === 'system') {
    const visitor: Holder = { person: `address ${address}`, teams: [], fairnessKey: 'visitors' };
    return countedFor(db, () => visitor);
  }
  return cachedUser(db, actor.userId).db;
}

const DELIVERIES: Holder = { person: null, teams: ['deliveries'], fairnessKey: 'deliveries' };

/** Returns the database for deliveries of the code host; all deliveries together share the quota of one team. */
export const databaseForDeliveries = (services: Pick<Services, 'db'>): Knex =>
  countedFor(wrapPool(services.db), () => DELIVERIES);

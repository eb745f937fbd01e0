import type { Context } from './context.js';

/** Counts for the audit entry of the change, by name. */
type Counts = Record<string, number | undefined>;

/** A member who leaves a team; their open tasks go to the successor, if there is one. */
interface DepartingMember {
  team_id: string;
  user_id: string;
  successor: string | null;
}

/**
 * What a feature does with its rows when a team is deleted, or when a member leaves it. Each function runs in the transaction of that change.
 * `identity/teams/team-data.ts` lists the features, in the order in which they lock rows: it is the order of the feature's other writers.
 */
export interface TeamData {
  /** Tables of the feature whose rows name a team. */
  tables: readonly string[];
  /** Deletes the rows of a team before its memberships: writers of this feature lock their rows before a membership. */
  beforeMembershipsEnd?: (ctx: Context, teamId: string) => Promise<Counts>;
  /** Deletes the rows of a team after its memberships, so that nobody can add one. */
  onTeamDeleted?: (ctx: Context, teamId: string) => Promise<Counts>;
  /** Locks what a member has, before the lock of the membership. */
  lockForMember?: (ctx: Context, member: DepartingMember) => Promise<unknown>;
  /** Takes back what the membership allowed, after its deletion. Counts of zero are not recorded. */
  onMemberRemoved?: (ctx: Context, member: DepartingMember) => Promise<Counts>;
  /** Records changes of its own, after the entry of the departure, which must be the request's first one. */
  afterMemberRemoved?: (ctx: Context, member: DepartingMember) => Promise<Counts>;
  /** Deletes what a person has outside of teams, when the person is deprovisioned. */
  onPersonRemoved?: (ctx: Context, userId: string) => Promise<Counts>;
}

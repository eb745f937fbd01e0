import { Membership } from '../../../db/models/membership.js';
import { Conversation, Team } from '../../../db/models/team.js';
import { defineStatement, run } from '../../../db/statement.js';
import { type Context, inTransaction, requireUser } from '../../platform/context.js';
import { DomainError } from '../../platform/errors.js';
import { recordChange } from '../../platform/changes/record-change.js';
import { teamsPerUser } from '../../platform/settings/people-settings.js';
import { addableAmong } from './addable-among.js';
import { invitePerson } from './invitations/invite-person.js';
import { notifyAdded } from './notify-added.js';
import { readTeam } from './read-team.js';
import type { CreatedTeam, CreateTeam } from './schema.js';

/** $1 = user id. Locked, so that teams created at once are counted one after the other. */
const lockCreator = defineStatement({
  name: 'lock_creator_of_team',
  text: 'select from users where user_id = $1 for no key update',
});

/** $1 = user id, $2 = limit of the count. */
const countTeams = defineStatement({
  name: 'count_created_teams',
  text: /* sql */ `
    select count(*)::int as created from (select from teams where created_by = $1 and deleted_at is null limit $2) t`,
});

/** $1 = user ids. Returns the users who may join a team; they cannot be deprovisioned before the commit. */
const lockKnown = defineStatement({
  name: 'lock_known_users',
  text: "select user_id from users where user_id = any($1::uuid[]) and status <> 'deprovisioned' for key share",
});

/** $1 = team id, $2 = user ids, $3 = role. `clock_timestamp()` advances within the transaction: the creator sorts first. */
const insertOthers = defineStatement({
  name: 'insert_memberships',
  text: /* sql */ `
    insert into memberships (team_id, user_id, role, joined_at)
    select $1, u.user_id, $3, clock_timestamp() from unnest($2::uuid[]) as u (user_id)`,
});

/** @throws QUOTA_EXCEEDED (400) the caller has created the most teams that one user may */
async function checkQuota(ctx: Context): Promise<void> {
  const max = teamsPerUser(ctx.config);
  await run(ctx.db, lockCreator, [requireUser(ctx)]);
  const [counted] = await run<{ created: number }>(ctx.db, countTeams, [requireUser(ctx), max]);
  if ((counted?.created ?? 0) < max) return;
  throw new DomainError('QUOTA_EXCEEDED', `You have created ${max} teams, the most that one user may`, {
    status: 400,
    detail: 'Delete a team that you do not need, or ask the operator of this installation to raise TEAMS_PER_USER.',
  });
}

/** Returns those users who exist and may join a team, in the given order. */
async function knownAmong(ctx: Context, userIds: string[]): Promise<string[]> {
  const rows = await run<{ user_id: string }>(ctx.db, lockKnown, [userIds]);
  const known = new Set(rows.map(({ user_id }) => user_id));
  return userIds.filter((id) => known.has(id));
}

/** Inserts the creator as admin and the others as members, in the given order. */
async function insertMembers(ctx: Context, team_id: string, others: readonly string[]): Promise<void> {
  await Membership.query(ctx.db).insert({ team_id, user_id: requireUser(ctx), role: 'admin' });
  if (others.length === 0) return;
  await run(ctx.db, insertOthers, [team_id, others, 'member']);
}

/**
 * Creates a team with its default conversation. The caller becomes its first member and admin, the others join as members and are told; where
 * the installation requires consent, users who share no team with the caller are invited.
 * @throws QUOTA_EXCEEDED (400) too many teams | INVALID_REQUEST too many invitations within a day
 */
export function createTeam(ctx: Context, { name, description, member_ids }: CreateTeam): Promise<CreatedTeam> {
  return inTransaction(ctx, async (ctx) => {
    const creator = requireUser(ctx);
    await checkQuota(ctx);
    const wanted = (member_ids ?? []).filter((id) => id !== creator);
    const known = await knownAmong(ctx, wanted);
    const addable = await addableAmong(ctx, known);
    const joining = known.filter((id) => addable.has(id));
    const invited = known.filter((id) => !addable.has(id));
    const created = await Team.query(ctx.db)
      .insert({ name, description: description ?? null, plan: ctx.config.DEFAULT_TEAM_PLAN, created_by: creator })
      .returning('*');
    const { team_id } = created;
    await insertMembers(ctx, team_id, joining);
    await Conversation.query(ctx.db).insert({ team_id, title: 'General', is_default: true });
    await recordChange(ctx, {
      team_id,
      feature: 'teams',
      action: 'create',
      severity: 'MEDIUM',
      entity_type: 'team',
      entity_id: team_id,
      title: name,
      summary: 'created the team',
      details: { name, member_ids: [creator, ...joining] },
    });
    await notifyAdded(ctx, { team_id, name }, joining, 'member');
    // In one order: each locks an address, and teams of the same people may be created at once.
    for (const user_id of invited.toSorted()) await invitePerson(ctx, created, { user_id }, 'member');
    const { team } = await readTeam(ctx, team_id);
    return { ...team, ignored_member_ids: wanted.filter((id) => !known.includes(id)), invited_member_ids: invited };
  });
}

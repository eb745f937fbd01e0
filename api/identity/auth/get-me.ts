import { defineStatement, run } from '../../../db/statement.js';
import { type Context, requireUser } from '../../platform/context.js';
import { unauthenticated } from '../../platform/errors.js';
import { createRowLoader } from '../../platform/database/batching/batch-loader.js';
import { type BillingTier, listEntitlements } from '../../platform/access/billing-tiers.js';
import type { User } from './schema.js';

/** $1 = user ids. Returns the existing ones, unordered. */
const statement = defineStatement({
  name: 'get_users',
  text: /* sql */ `
    select u.user_id, u.email, u.name, u.role, u.password_hash is not null as has_password, u.username, u.display_name, u.avatar,
      u.two_factor_enabled_at is not null as two_factor_enabled, u.status, u.preferences,
      coalesce(json_agg(json_build_object('team_id', t.team_id, 'key', t.key, 'name', t.name, 'role', m.role, 'plan', t.plan)
        order by t.created_at, t.team_id) filter (where t.team_id is not null), '[]') as teams
    from users u
    left join memberships m using (user_id)
    left join teams t on t.team_id = m.team_id and t.deleted_at is null
    where u.user_id = any((select $1::uuid[])::uuid[]) group by u.user_id`,
});

const DEFAULT_PREFERENCES = { timezone: 'UTC', locale: 'en', week_start: 'monday', theme: 'auto', default_team_id: null };

interface Row extends Record<string, unknown> {
  user_id: string;
  teams: { team_id: string; key: string; name: string; role: string; plan: BillingTier }[];
  preferences: Partial<User['preferences']>;
}

const findUserRow = createRowLoader(async (db, ids: string[]) => {
  const rows = await run<Row>(db, statement, [[...new Set(ids)]]);
  return ids.map((id) => rows.find((row) => row.user_id === id));
});

/**
 * Returns the caller with the best plan of their teams and its entitlements.
 * @throws AUTHENTICATION_REQUIRED if the account no longer exists
 */
export async function getMe(ctx: Context, userId: string = requireUser(ctx)): Promise<User> {
  const row = await findUserRow(ctx.db, userId);
  if (!row) throw unauthenticated();
  const { teams, preferences, ...user } = row;
  const plans: BillingTier[] = ['scale', 'team', 'free'];
  const plan = plans.find((name) => teams.some((team) => team.plan === name)) ?? 'free';
  return {
    ...(user as Omit<User, 'plan' | 'entitlements' | 'teams' | 'preferences' | 'impersonated_by' | 'auth_method'>),
    plan,
    entitlements: listEntitlements(plan),
    teams: teams.map(({ plan: _plan, ...team }) => team),
    preferences: { ...DEFAULT_PREFERENCES, ...preferences },
    impersonated_by: ctx.actor.type === 'user' ? ctx.actor.impersonatorId : null,
    auth_method: ctx.actor.type === 'pat' ? 'pat' : 'jwt',
  };
}

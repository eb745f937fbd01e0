import { defineStatement, run } from '../../../db/statement.js';
import type { Seat } from '../../platform/access/access.js';
import { type Context, requireUser } from '../../platform/context.js';
import { notFound } from '../../platform/errors.js';
import type { TeamRecord } from './schema.js';

/** A team's row with the ids of its members in the order of joining. */
interface TeamRow extends Record<string, unknown> {
  team_id: string;
  key: string;
  name: string;
  description: string | null;
  decisions_signed_in: boolean;
  member_ids: string[];
  created_by: string;
  created_at: Date;
  seat: Seat | null;
}

const columns = /* sql */ `t.team_id, t.key, t.name, t.description, t.decisions_signed_in, t.created_by, t.created_at, mine.role as seat,
  array(select m.user_id from memberships m where m.team_id = t.team_id order by m.joined_at, m.user_id) as member_ids`;

/** $1 = team id, $2 = caller id. No row: no such team. */
const oneStatement = defineStatement({
  name: 'read_team',
  text: /* sql */ `
    select ${columns} from teams t left join memberships mine on mine.team_id = t.team_id and mine.user_id = $2
    where t.team_id = $1 and t.deleted_at is null`,
});

/** $1 = caller id. */
const ownStatement = defineStatement({
  name: 'read_own_teams',
  text: /* sql */ `
    select ${columns} from memberships mine join teams t using (team_id)
    where mine.user_id = $1 and t.deleted_at is null order by t.created_at, t.team_id`,
});

const present = ({ seat: _seat, created_at, ...row }: TeamRow): TeamRecord => ({
  ...row,
  created_at: created_at.toISOString(),
});

/** Returns a live team and the caller's role in it. @throws RESOURCE_NOT_FOUND */
export async function readTeam(ctx: Context, teamId: string): Promise<{ team: TeamRecord; seat: Seat | null }> {
  const [row] = await run<TeamRow>(ctx.db, oneStatement, [teamId, requireUser(ctx)]);
  if (!row) throw notFound('Team');
  return { team: present(row), seat: row.seat };
}

/** Returns the caller's live teams, oldest first. */
export async function readOwnTeams(ctx: Context): Promise<TeamRecord[]> {
  const rows = await run<TeamRow>(ctx.db, ownStatement, [requireUser(ctx)]);
  return rows.map(present);
}

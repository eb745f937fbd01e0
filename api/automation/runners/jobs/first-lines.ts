import { defineStatement, run } from '../../../../db/statement.js';
import { authorize } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { seatInTeam } from '../../../platform/access/seats.js';

const MAX_LENGTH = 100;

/** $1 = team id, $2 = job ids. The beginnings of their commands. */
const statement = defineStatement({
  name: 'first_lines_of_runner_jobs',
  text: /* sql */ `
    select j.job_id, left(ltrim(j.command, E' \\t\\r\\n'), 400) as command from runner_jobs j where j.team_id = $1 and j.job_id = any($2)`,
});

/** Returns the first line of a command that is not blank, cut to 100 characters. */
export function firstLine(command: string): string {
  const line = Array.from((command.trim().split('\n', 1)[0] ?? '').trim());
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1).join('')}…` : line.join('');
}

/**
 * Returns the first lines of the commands of these jobs of a team, by id, to tell them apart in a list.
 * @throws RESOURCE_NOT_FOUND no such team | PERMISSION_DENIED not a member, or a guest
 */
export async function firstLines(ctx: Context, teamId: string, jobIds: readonly string[]): Promise<Record<string, string>> {
  authorize('runner.read', await seatInTeam(ctx, teamId));
  const rows = await run<{ job_id: string; command: string }>(ctx.db, statement, [teamId, jobIds]);
  return Object.fromEntries(rows.map(({ job_id, command }) => [job_id, firstLine(command)]));
}

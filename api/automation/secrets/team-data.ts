import { defineStatement, run } from '../../../db/statement.js';
import type { TeamData } from '../../platform/team-data.js';

const statement = defineStatement({
  name: 'delete_secrets_of_team',
  text: 'delete from team_secrets where team_id = $1 returning name',
});

export const secretData: TeamData = {
  tables: ['team_secrets'],
  onTeamDeleted: async ({ db }, teamId) => ({ secrets: (await run(db, statement, [teamId])).length }),
};

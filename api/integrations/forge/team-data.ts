import { defineStatement, run } from '../../../db/statement.js';
import type { TeamData } from '../../platform/team-data.js';

const statement = defineStatement({
  name: 'delete_repositories_of_team',
  text: 'delete from forge_repositories where team_id = $1 returning project_id',
});

export const repositoryData: TeamData = {
  tables: ['forge_repositories'],
  onTeamDeleted: async ({ db }, teamId) => ({ repositories: (await run(db, statement, [teamId])).length }),
};

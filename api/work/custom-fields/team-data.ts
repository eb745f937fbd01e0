import type { TeamData } from '../../platform/team-data.js';
import { deleteFieldsOfTeam } from './delete-field.js';

export const customFieldData: TeamData = {
  tables: ['custom_fields'],
  beforeMembershipsEnd: async (ctx, teamId) => ({ custom_fields: await deleteFieldsOfTeam(ctx, teamId) }),
};

import { defineStatement } from '../../../db/statement.js';

/** A team whose overnight triage is enabled. */
export interface NightlyTeam extends Record<string, unknown> {
  team_id: string;
  overnight_cron: string;
  overnight_timezone: string;
}

const NIGHTLY = /* sql */ `
    select s.team_id, s.overnight_cron, s.overnight_timezone from agent_settings s join teams t using (team_id)
    where s.overnight_enabled and t.deleted_at is null`;

export const nightlyTeamsStatement = defineStatement({ name: 'nightly_teams', text: NIGHTLY });

/** $1 = team id. */
export const nightlyTeamStatement = defineStatement({ name: 'nightly_team', text: `${NIGHTLY} and s.team_id = $1::uuid` });

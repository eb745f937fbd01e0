const TIME = (column: string): string => `to_char(p.${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;

/** SQL: the row `p` as the API shows a project. One definition for reads, lists and events. */
export const PROJECT_JSON = /* sql */ `(select row_to_json(shown) from (select p.project_id, p.name, p.team_id, p.description, p.status,
  p.start_date, p.end_date, p.lead_id, p.health, ${TIME('health_at')},
  p.created_by, ${TIME('created_at')}) shown)`;

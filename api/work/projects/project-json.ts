/** SQL: the row `p` as the API shows a project. One definition for reads, lists and events. */
export const PROJECT_JSON = /* sql */ `(select row_to_json(shown) from (select p.project_id, p.name, p.team_id, p.description, p.status,
  p.start_date, p.end_date, p.created_by, to_char(p.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at) shown)`;

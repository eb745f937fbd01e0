/** SQL: a project as the API shows it (contract, section 2), of the row named `p`. One definition for reads, lists and events. */
export const PROJECT_JSON = /* sql */ `json_build_object('project_id', p.project_id, 'name', p.name, 'team_id', p.team_id,
  'description', p.description, 'status', p.status, 'start_date', p.start_date, 'end_date', p.end_date, 'created_by', p.created_by,
  'created_at', to_char(p.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

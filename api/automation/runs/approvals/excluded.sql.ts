/**
 * SQL over automation_runs r and its gate g: users whose approval does not count, as uuid[], because the run is their own. Empty
 * if the gate allows self-approval. A run belongs to the automation's creator, the authors of its version or of the actions that
 * the version repeats, and the user who started it. It also belongs to the same people of the run that caused it, and so on;
 * otherwise a second automation could start it in its own creator's name. A replay belongs to those who started the runs it
 * replays as well (docs/decisions/gate.md#approvers-of-a-run).
 */
export const EXCLUDED = /* sql */ `case when g.allow_self_approval then '{}'::uuid[] else people_of_run(r.run_id) end`;

/** SQL over automation_runs r and its gate g: only a signed-in person decides, because the gate or the team says so. */
export const SIGNED_IN = /* sql */ `
  (g.signed_in or coalesce((select t.decisions_signed_in from teams t where t.team_id = r.team_id), false))`;

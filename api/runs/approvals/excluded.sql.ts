/**
 * Of automation_runs r with its gate g, as uuid[]: the people whose approval does not count, because the run is their own. Empty where
 * the gate allows self-approval. A run belongs to the automation's creator, as whom it acts; to the people who wrote its version, or the
 * actions that this version repeats; to whoever started it; and to the people behind its cause. Behind the cause are all these people of
 * the run that caused it, and so on: a second automation would otherwise start it in its own creator's name. Behind a replay are those
 * who started what it replays.
 */
export const EXCLUDED = /* sql */ `case when g.allow_self_approval then '{}'::uuid[] else people_of_run(r.run_id) end`;

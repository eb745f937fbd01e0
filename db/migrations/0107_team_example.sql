-- The example project of a team, if it has been filled with one. Its automation has the id of the project. No foreign key: purging a project would
-- lock its team; an id of nothing is no example.
alter table teams add example_project_id uuid;

-- The size of a task in points, beside its estimated hours; null = nobody estimated it. A process of the version before does not name the column, so
-- its changes keep the value.
alter table tasks add estimate smallint;
select show_task_column('estimate');
-- Not validated: every stored row is null, and reading them all would hold up writers.
alter table tasks add constraint estimate_in_points check (estimate between 0 and 999) not valid;

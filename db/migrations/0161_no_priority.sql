-- A task may have no priority: nobody has given it one yet. Old rows satisfy the old check, which is narrower, so none is read again.
alter table tasks drop constraint tasks_priority_check;
alter table tasks add constraint tasks_priority_check check (priority in ('none', 'low', 'medium', 'high', 'urgent')) not valid;

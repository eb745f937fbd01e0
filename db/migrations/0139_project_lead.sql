-- Who leads a project; null = nobody. Processes of the version before neither read nor write it.
alter table projects add column lead_id uuid;
-- Not validated: every stored row is null, and reading them all would hold up writers.
alter table projects add constraint projects_lead foreign key (lead_id) references users not valid;

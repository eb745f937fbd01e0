-- What the page of a task says of a pull request, as its newest delivery had it. Null: of a link that a process of the version before made.
alter table forge_links add column title text, add column merged boolean;

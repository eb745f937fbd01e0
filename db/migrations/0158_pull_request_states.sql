-- State and author of a pull request, as its newest delivery had them. Null: of a link that a process of the version before made.
alter table forge_links add column state text check (state in ('open', 'merged', 'closed')), add column author text;

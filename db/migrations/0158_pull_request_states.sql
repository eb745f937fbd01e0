-- State and author of a pull request, as its newest delivery had them. Null: of a link that a process of the version before made.
alter table forge_links add column state text, add column author text;
alter table forge_links add constraint forge_links_state check (state in ('open', 'merged', 'closed')) not valid;

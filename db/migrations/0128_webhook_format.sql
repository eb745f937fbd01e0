-- What an endpoint receives: the event as JSON, or one line of it as chat rooms take it. A process of the version before sends JSON to both until it
-- is replaced; a chat room refuses that, and gets the line at a later attempt.
alter table webhooks add column format text not null default 'json';
alter table webhooks add constraint webhooks_format check (format in ('json', 'slack')) not valid;

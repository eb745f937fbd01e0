import { defineStatement } from '../../../db/statement.js';
import { hasSubscriber } from '../../platform/events/has-subscriber.sql.js';
import { eventType } from '../../platform/changes/make-change.sql.js';

/**
 * Creates a note, file, whiteboard or doc in a live project, or in a team without a project. $1 = caller (jsonb), $2 = item id, $3 = type,
 * $4 = team id or null, $5 = project id or null, $6 = roles that may create, $7 = feature of the audit entry, $8 = title,
 * $9 = description, $10 = content, $11 = kind, $12 = status, $13 = fields (JSON text), $14 = further details of the
 * audit entry (jsonb). Returns one row: its flags distinguish the
 * outcomes, and `created` is the row's dates and version if it was inserted. Locks project, team and membership FOR KEY SHARE: trashing
 * the project, deleting the team or removing the member waits for the commit.
 */
export const createItemStatement = defineStatement({
  name: 'create_item',
  text: /* sql */ `
with verdict as materialized (
  select team.team_id, project.project_id, seat.role as seat, $4::uuid is null or $4::uuid = team.team_id as team_ok
  from (select $4::uuid as team_id, $5::uuid as project_id) given
  left join lateral (
    select p.team_id, p.project_id from projects p where p.project_id = given.project_id and p.deleted_at is null for key share
  ) project on true
  -- Before the membership, as deleting the team does: the insert needs the team's row too.
  left join lateral (
    select t.team_id from teams t
    where t.team_id = case when given.project_id is null then given.team_id else project.team_id end and t.deleted_at is null
    for key share
  ) team on true
  left join lateral (
    select m.role from memberships m where m.team_id = team.team_id and m.user_id = ($1::jsonb->>'user_id')::uuid for key share
  ) seat on true
), key as (
  insert into item_keys (item_id, item_type)
  select $2, $3 from verdict where coalesce(seat = any($6::text[]) and team_ok, false) returning item_id
), made as (
  insert into items (item_id, item_type, team_id, project_id, title, description, content, kind, status, fields, created_by)
  select key.item_id, $3, v.team_id, v.project_id, $8, $9, $10, $11, $12, $13::json, ($1::jsonb->>'user_id')::uuid
  from key, verdict v
  returning item_id, item_type, team_id, project_id, title, kind, created_at, updated_at, version
), recorded as (
  select record_changes($1::jsonb, array[make_change(team_id => m.team_id, project_id => m.project_id, feature => $7,
    action => 'create', entity_type => m.item_type, entity_id => m.item_id, title => m.title,
    summary => 'created the ' || m.item_type, details => jsonb_build_object('title', m.title) || $14::jsonb,
    event_type => case m.item_type when 'note' then ${eventType('note.created')} end,
    payload => jsonb_build_object('note', jsonb_build_object('note_id', m.item_id, 'title', m.title, 'team_id', m.team_id,
      'project_id', m.project_id, 'kind', m.kind)))]) as audit_id
  from made m
)
select v.team_id, v.project_id, v.seat, v.team_ok, m.created_at, m.updated_at, m.version,
  (select count(audit_id) from recorded) as recorded,
  m.item_type = 'note' and ${hasSubscriber('note.created', 'v.team_id', "($1::jsonb->>'user_id')::uuid")} as notify
from verdict v left join made m on true`,
});

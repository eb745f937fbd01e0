-- Addresses of bindings: a repository sends its deliveries there, signed by a secret of its own. What came there lies apart from the deliveries that the
-- operator's secret signs, so that no team, and no process of the version before, takes one for such a delivery.
create table forge_addresses (
  binding_id uuid primary key references forge_repositories on delete cascade,
  -- New with each secret, so that a form replaces the secret that it showed.
  secret_id uuid not null default uuidv7(),
  secret_prefix text not null,
  data_key bytea not null,
  sealed_value bytea not null,
  -- The secret before a rotation, which also counts until then.
  previous_data_key bytea,
  previous_sealed_value bytea,
  previous_until timestamptz,
  created_by uuid not null references users,
  -- Whoever made the secret can sign: this user, and an administrator who impersonated them.
  held_by uuid[] not null,
  previous_held_by uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  -- The first signed delivery.
  connected_at timestamptz,
  last_delivery_at timestamptz,
  last_event text,
  -- Deliveries without a valid signature leave nothing else.
  last_refused_at timestamptz,
  constraint forge_addresses_previous check ((previous_data_key is null) = (previous_sealed_value is null)
    and (previous_data_key is null) = (previous_until is null))
);

create table forge_address_deliveries (
  receipt_id uuid primary key default uuidv7(),
  binding_id uuid not null references forge_addresses on delete cascade,
  delivery_id text not null,
  event text,
  normalized text,
  payload jsonb,
  held_by uuid[] not null,
  received_at timestamptz not null default now(),
  outcome text check (outcome in ('applied', 'ignored', 'duplicate', 'failed', 'refused')),
  reason text
);
create unique index forge_address_delivery_key on forge_address_deliveries (delivery_id, binding_id)
  where outcome is distinct from 'duplicate' and outcome is distinct from 'refused';
create index forge_address_deliveries_of_binding on forge_address_deliveries (binding_id, receipt_id);
